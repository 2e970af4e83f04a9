import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { CellSession } from '#libs/testing/cells/cell-session.js';
import { fillOf, seenOf } from '#libs/testing/cells/played-executor.js';
import type { ObservedFill } from '../protocol/cell-protocol.js';
import { ONE } from '../rules/micros.js';
import type { OrderTerms } from '../rules/order.js';

jest.setTimeout(120_000);

/** More ended orders than a cell keeps in memory for one user. */
const MANY = 2_100;
const AT_ONCE = 300;

let session: CellSession;

beforeEach(async () => {
  session = await CellSession.open({ snapshotEvery: 1_000 });
});
afterEach(() => session.close());

async function observe(fills: readonly ObservedFill[], orders: readonly OrderTerms[] = []): Promise<void> {
  const { user_id } = session;
  const foreign = orders.map((terms) => ({
    ...seenOf(terms, [3n * ONE], { status: 'cancelled' }),
    ...{ market_id: terms.market_id, outcome: terms.outcome, outcome_index: 0, side: terms.side },
  }));
  const { status } = await session.live.ask({
    ...{ op: 'observed', account: 'account-b', user_id, venue: 'venue_b', orders: foreign, fills },
  });
  expect(status).toBe(200);
}

async function manyOthersEnd(): Promise<void> {
  for (let done = 0; done < MANY; done += AT_ONCE) {
    const ids = await Promise.all(Array.from({ length: AT_ONCE }, () => session.submit()));
    await Promise.all(ids.map((id) => session.cancel(id)));
  }
}

async function recalled(): Promise<number> {
  return (await session.live.journaled()).filter(({ type }) => type === 'ORDER_RECALLED').length;
}

it('a fill that comes long after its order has ended is booked once and changes the order', async () => {
  await session.submit();
  const cancelled = await session.executor.places([3n * ONE]);
  await observe([], [cancelled]);
  await session.submit();
  const task = await session.executor.task('submit');
  await session.executor.begin(task.terms);
  await session.executor.report(task, { what: 'absent' });
  const failed = task.terms;
  expect(await session.orderOf(failed.order_id)).toMatchObject({ status: 'failed' });
  await manyOthersEnd();

  // A fill that is already booked recalls no order.
  await observe([fillOf(cancelled, 3n * ONE)]);
  expect(await recalled()).toBe(0);
  const late = [
    fillOf(cancelled, 2n * ONE, 'late'),
    { ...fillOf(failed, 4n * ONE, 'late'), venue_client_id: failed.order_id },
  ];
  await observe(late);
  await observe([fillOf(cancelled, 3n * ONE), ...late]);
  const follows = async (): Promise<void> => {
    expect(await session.orderOf(cancelled.order_id)).toMatchObject({
      ...{ status: 'cancelled', filled_quantity: '5' },
    });
    expect(await session.orderOf(failed.order_id)).toMatchObject({
      ...{ status: 'partially_filled', filled_quantity: '4' },
    });
    expect(await session.positions()).toMatchObject([{ net_size: '9' }]);
    expect(await recalled()).toBe(2);
  };
  await follows();
  await session.restart();
  await observe(late);
  await follows();
});
