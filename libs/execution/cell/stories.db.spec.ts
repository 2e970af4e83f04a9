import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CellSession, REQUEST } from '#libs/testing/cells/cell-session.js';
import { submission } from '#libs/testing/cells/orders.js';
import { fillOf, seenOf } from '#libs/testing/cells/played-executor.js';
import { eventually } from '#libs/testing/eventually.js';
import { ONE } from '../rules/micros.js';

/** Leaves time for slow, busy machines. */
jest.setTimeout(30_000);

const TEN = 10n * ONE;
let session: CellSession;

beforeEach(async () => {
  session = await CellSession.open();
});
afterEach(() => session.close());

describe('problems that users had on other platforms', () => {
  it('story 1: an order is not marked failed by any number of network errors', async () => {
    const { order_id, terms } = await session.inDoubt();
    for (const wait of [0, 1_000, 2_000, 4_000, 8_000, 15_000]) {
      session.leap(wait);
      const query = await session.executor.task('query');
      await session.executor.report(query, { what: 'doubtful', reason: 'ENOTFOUND' });
      expect(await session.orderOf(order_id)).toMatchObject({ status: 'pending_venue' });
    }
    session.leap(15_100);
    await session.executor.report(await session.executor.task('query'), {
      what: 'placed',
      order: seenOf(terms),
      fills: [],
    });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'open', stalled: false });
  });

  it('story 1: an order that had a venue id never fails as not placed', async () => {
    const order_id = await session.submit();
    await session.executor.places();
    await session.live.ask<'orders_reconcile'>({
      op: 'orders_reconcile',
      user_id: session.user_id,
      request_id: REQUEST,
      order_id,
    });
    await session.executor.report(await session.executor.task('query'), { what: 'absent' });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'open' });
  });

  it('the cell finds the user of an order, also after a restart', async () => {
    const order_id = await session.submit();
    const { body } = await session.live.ask<'order_owner'>({ op: 'order_owner', order_id });
    expect(body).toEqual({ user_id: session.user_id });
    const unknown = { op: 'order_owner', order_id: order_id.replace(/....$/, 'ffff') } as const;
    expect(await session.live.ask<'order_owner'>(unknown)).toMatchObject({ status: 404 });
    await session.restart();
    expect((await session.live.ask<'order_owner'>({ op: 'order_owner', order_id })).status).toBe(200);
  });

  it('story 2: an order that filled at once and does not rest is filled, not rejected', async () => {
    const { order_id, terms } = await session.inDoubt({ kind: 'market' });
    const query = await session.executor.task('query');
    const order = seenOf(terms, [TEN]);
    // The venue counts the fill before it shows it, so the order waits for its fills.
    await session.executor.report(query, { what: 'placed', order, fills: [] });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'open', filled_quantity: '0' });
    session.leap(1_100);
    const again = await session.executor.task('query');
    await session.executor.report(again, { what: 'placed', order, fills: [fillOf(terms, TEN)] });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'filled', filled_quantity: '10' });
  });

  it('story 3: an order that waits too long for the venue is queried again and shown as stalled', async () => {
    const order_id = await session.submit();
    await session.executor.places();
    await session.cancel(order_id);
    await session.executor.report(await session.executor.task('cancel'), {
      what: 'doubtful',
      reason: 'no answer',
    });
    session.leap(61_000);
    await eventually(async () => expect(await session.orderOf(order_id)).toMatchObject({ stalled: true }));
    expect((await session.executor.task('query')).terms.order_id).toBe(order_id);
    const { body } = await session.live.ask<'reconciliation'>({ op: 'reconciliation' });
    expect(body.doubts).toMatchObject([{ order_id, is_stalled: true }]);
  });

  it('story 5: one trade that fills two orders is booked on both, once each', async () => {
    const ids = [await session.submit(), await session.submit()];
    const both = [await session.executor.places(), await session.executor.places()];
    const fills = both.map((terms) => fillOf(terms, 2n * ONE, 'one-trade'));
    for (let times = 0; times < 2; times += 1)
      await session.live.ask({
        op: 'observed',
        account: 'account-b',
        user_id: session.user_id,
        venue: 'venue_b',
        orders: [],
        fills,
      });
    for (const id of ids) expect(await session.orderOf(id)).toMatchObject({ filled_quantity: '2' });
    expect(await session.positions()).toMatchObject([{ net_size: '4' }]);
  });

  it('story 6: a fill that two sources report is booked once, also after a restart', async () => {
    const order_id = await session.submit();
    const terms = await session.executor.places([3n * ONE]);
    await session.restart();
    const fills = [fillOf(terms, 3n * ONE)];
    await session.live.ask({
      op: 'observed',
      account: 'account-b',
      user_id: session.user_id,
      venue: 'venue_b',
      orders: [],
      fills,
    });
    expect(await session.orderOf(order_id)).toMatchObject({
      filled_quantity: '3',
      status: 'partially_filled',
    });
    const booked = (await session.live.journaled()).filter(({ type }) => type === 'ORDER_FILLED');
    expect(booked).toHaveLength(1);
  });

  it("story 7: the state follows the sum of our fills, not the venue's status", async () => {
    const order_id = await session.submit();
    const terms = await session.executor.places([3n * ONE]);
    await session.cancel(order_id);
    const order = seenOf(terms, [3n * ONE], { status: 'cancelled' });
    await session.executor.report(await session.executor.task('cancel'), {
      what: 'cancelled',
      order,
      fills: [],
    });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'cancelled', filled_quantity: '3' });
    // A late fill of an ended order is booked. With it, the order is fully filled.
    const late = fillOf(terms, 7n * ONE, 'late');
    await session.live.ask({
      op: 'observed',
      account: 'account-b',
      user_id: session.user_id,
      venue: 'venue_b',
      orders: [],
      fills: [late],
    });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'filled', terminal_reason: 'FILLED' });
    expect(await session.positions()).toMatchObject([{ net_size: '10' }]);
  });

  it('story 8: an order in doubt is never sent again, even with retries left', async () => {
    const { order_id } = await session.inDoubt({ max_retries: 20 });
    await session.executor.report(await session.executor.task('query'), {
      what: 'doubtful',
      reason: 'still unknown',
    });
    session.leap(60_000);
    await session.executor.task('query');
    expect((await session.executor.claim()).filter(({ kind }) => kind === 'submit')).toEqual([]);
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'pending_venue', attempts: 1 });
  });

  it('story 8: with proof of absence it fails, or is sent once more', async () => {
    const { order_id } = await session.inDoubt();
    await session.executor.report(await session.executor.task('query'), { what: 'absent' });
    expect(await session.orderOf(order_id)).toMatchObject({
      status: 'failed',
      failure: { code: 'EXCHANGE_NOT_PLACED' },
    });
    const other = await session.inDoubt({ max_retries: 1, market_id: 'SNOW' });
    await session.executor.report(await session.executor.task('query'), { what: 'absent' });
    expect(await session.orderOf(other.order_id)).toMatchObject({ status: 'queued', attempts: 1 });
    expect((await session.executor.task('submit')).attempt).toBe(2);
  });

  it('story 9: a retry with the same key finds the first order in any state', async () => {
    const first = submission(session.user_id, { client_order_id: 'retried' });
    const { body } = await session.live.ask<'submit'>(first);
    const terms = await session.executor.places([TEN]);
    expect((await session.live.ask<'submit'>(first)).body).toMatchObject({
      ...{ order_id: body.order_id, status: 'filled', is_replay: true },
    });
    expect(terms.order_id).toBe(body.order_id);
  });

  it('story 11: a cancel that came too late says that the order is filled, and the filled quantity', async () => {
    const order_id = await session.submit();
    await session.executor.places([TEN]);
    expect((await session.cancel(order_id)).body).toMatchObject({
      ...{ status: 'filled', success: false, filled_quantity: '10', remaining_quantity: '0' },
    });
  });

  it('story 11: a cancel that the venue refuses because of a fill books that fill', async () => {
    const order_id = await session.submit();
    const terms = await session.executor.places();
    await session.cancel(order_id);
    const fills = [fillOf(terms, TEN)];
    await session.executor.report(await session.executor.task('cancel'), {
      what: 'placed',
      order: seenOf(terms, [TEN]),
      fills,
    });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'filled', filled_quantity: '10' });
  });

  it('story 12: an order is not sent after its not_after time', async () => {
    const order_id = await session.submit({ not_after: session.in(2_000) });
    const task = await session.executor.task('submit');
    session.leap(2_100);
    expect(await session.executor.begin(task.terms)).toBe(409);
    expect(await session.orderOf(order_id)).toMatchObject({
      status: 'failed',
      failure: { code: 'COMMAND_EXPIRED' },
    });
    const idle = await session.submit({ not_after: session.in(1_000), market_id: 'SNOW' });
    session.leap(1_100);
    await eventually(async () => expect(await session.orderOf(idle)).toMatchObject({ status: 'failed' }));
  });
});
