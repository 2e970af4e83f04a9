import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { CellSession } from '#libs/testing/cells/cell-session.js';
import { seenOf } from '#libs/testing/cells/played-executor.js';

/** Leaves time for slow, busy machines. */
jest.setTimeout(30_000);

let session: CellSession;

beforeEach(async () => {
  session = await CellSession.open();
});
afterEach(() => session.close());

it('only the executor with the task may begin an order, and it may repeat the request', async () => {
  const order_id = await session.submit();
  const former = await session.executor.task('submit');
  session.leap(5_100);
  const task = await session.executor.task('submit');
  expect(task.task_id).not.toBe(former.task_id);
  expect(await session.executor.begin(former.terms, 1, former.task_id)).toBe(409);
  expect(await session.executor.begin(task.terms)).toBe(200);
  await session.cancel(order_id);
  expect(await session.executor.begin(task.terms)).toBe(200);
  expect(await session.executor.begin(former.terms, 1, former.task_id)).toBe(409);
  // A report of not-sent for the former task does not count either.
  await session.executor.report(former, { what: 'not-sent', failure: { code: 'COMMAND_EXPIRED' } });
  expect(await session.orderOf(order_id)).toMatchObject({ status: 'cancel_requested', attempts: 1 });
  await session.executor.report(task, { what: 'placed', order: seenOf(task.terms), fills: [] });
  expect(await session.orderOf(order_id)).toMatchObject({ exchange_order_id: `x-${order_id}` });
});

it('an order that its executor returns unsent is given out again, begun or not', async () => {
  const order_id = await session.submit();
  const first = await session.executor.task('submit');
  await session.executor.report(first, { what: 'returned' });
  const second = await session.executor.task('submit');
  expect(second).toMatchObject({ attempt: 1 });
  await session.executor.begin(second.terms);
  await session.executor.report(second, { what: 'returned' });
  expect(await session.orderOf(order_id)).toMatchObject({ status: 'queued', attempts: 1 });
  session.leap(300);
  const third = await session.executor.task('submit');
  expect(third).toMatchObject({ attempt: 2 });
  await session.executor.begin(third.terms, 2);
  await session.cancel(order_id);
  await session.executor.report(third, { what: 'returned' });
  expect(await session.orderOf(order_id)).toMatchObject({ status: 'cancelled', terminal_reason: 'USER' });
});

it('another account cannot be linked while the present one has a live order', async () => {
  const order_id = await session.submit();
  const { live, user_id } = session;
  const other = { user_id, venue: 'venue_b', account: 'another' } as const;
  expect((await live.ask({ op: 'link_account', ...other })).status).toBe(400);
  expect((await live.ask({ op: 'link_account', ...other, account: 'account-b' })).status).toBe(200);
  await session.cancel(order_id);
  expect(await session.orderOf(order_id)).toMatchObject({ status: 'cancelled' });
  expect((await live.ask({ op: 'link_account', ...other })).status).toBe(200);
});
