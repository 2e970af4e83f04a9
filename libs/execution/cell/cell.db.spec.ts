import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CellSession, REQUEST } from '#libs/testing/cells/cell-session.js';
import { randomUUID } from 'node:crypto';
import { submission, wantedTerms } from '#libs/testing/cells/orders.js';
import { exchangeIdOf, fillOf, PlayedExecutor, seenOf } from '#libs/testing/cells/played-executor.js';
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

describe('an order', () => {
  it('is acknowledged only once it is in the journal', async () => {
    session.live.writer.hold();
    let isAnswered = false;
    const submitted = session.submit().then((id) => {
      isAnswered = true;
      return id;
    });
    await eventually(() => expect(session.live.writer.inFlight).toBe(1));
    expect(isAnswered).toBe(false);
    session.live.writer.letGo();
    const order_id = await submitted;
    expect(await session.live.journaled()).toContainEqual(
      expect.objectContaining({ type: 'ORDER_ACCEPTED', order_id }),
    );
    expect(order_id).toMatch(/^0b[0-9a-f]{6}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'queued', version: 1, raw: null });
  });

  it('is filled in two parts, and its timeline, fills and position show both', async () => {
    const order_id = await session.submit();
    await session.executor.places([3n * ONE]);
    expect(await session.orderOf(order_id)).toMatchObject({
      ...{ status: 'partially_filled', filled_quantity: '3', remaining_quantity: '7' },
      ...{ average_fill_price: '0.4', attempts: 1, exchange_order_id: `x-${order_id}` },
      sent: { quantity: '10', price: '0.4' },
    });
    const rest = fillOf({ ...(await termsOf(order_id)) }, 7n * ONE, 1);
    await session.live.ask({
      op: 'observed',
      account: 'account-b',
      user_id: session.user_id,
      venue: 'venue_b',
      orders: [],
      fills: [rest],
    });
    expect(await session.orderOf(order_id)).toMatchObject({
      status: 'filled',
      terminal_reason: 'FILLED',
      version: 5,
    });
    const { body } = await session.live.ask<'order_events'>({
      ...{
        op: 'order_events',
        user_id: session.user_id,
        request_id: REQUEST,
        order_id,
        after_seq: 0,
        limit: 100,
      },
    });
    expect((body.events as { seq: number; cause: string }[]).map(({ seq, cause }) => [seq, cause])).toEqual([
      [1, 'ACCEPTED'],
      [2, 'SUBMITTING'],
      [3, 'OPEN'],
      [4, 'FILL'],
      [5, 'FILLED'],
    ]);
    const fills = await session.live.ask<'order_fills'>({
      op: 'order_fills',
      user_id: session.user_id,
      request_id: REQUEST,
      order_id,
    });
    expect(fills.body.fills.map(({ quantity }) => quantity)).toEqual(['3', '7']);
    expect(await session.positions()).toMatchObject([{ net_size: '10', avg_entry_price_bps: 4000 }]);
  });

  async function termsOf(order_id: string) {
    const events = await session.live.journaled();
    const accepted = events.find((event) => event.type === 'ORDER_ACCEPTED' && event.order_id === order_id);
    if (accepted?.type !== 'ORDER_ACCEPTED') throw new Error('the order was never accepted');
    return accepted.terms;
  }

  it('with a repeated key is the first order, also after a restart', async () => {
    const first = submission(session.user_id, { client_order_id: 'key-1' });
    const { body } = await session.live.ask<'submit'>(first);
    expect(body).toMatchObject({ status: 'queued', is_replay: false });
    const again = await session.live.ask<'submit'>(first);
    expect(again.body).toMatchObject({ order_id: body.order_id, is_replay: true, is_mismatch: false });
    await session.restart();
    const other = { ...first, terms: { ...first.terms, content: 'another' } };
    expect((await session.live.ask<'submit'>(other)).body).toMatchObject({
      ...{ order_id: body.order_id, is_replay: true, is_mismatch: true },
    });
    const twice = await Promise.all(
      [1, 2].map(() => session.live.ask<'submit'>(submission(session.user_id, { client_order_id: 'key-2' }))),
    );
    expect(new Set(twice.map((one) => one.body.order_id)).size).toBe(1);
  });

  it('is refused in the documented order of checks, without an event', async () => {
    const before = (await session.live.journaled()).length;
    const past = session.in(-1);
    expect(await session.refusal(submission(session.user_id, { not_after: past }))).toEqual([
      409,
      'COMMAND_EXPIRED',
    ]);
    const closed = { ...submission(session.user_id), market_status: 'closed' } as const;
    expect(await session.refusal(closed)).toEqual([409, 'VALIDATION_MARKET_CLOSED']);
    expect(await session.refusal(submission(randomUUID()))).toEqual([409, 'EXCHANGE_NOT_LINKED']);
    expect(await session.refusal(submission(session.user_id, { side: 'sell' }))).toEqual([
      409,
      'INSUFFICIENT_POSITION',
    ]);
    session.world.operators.switches = [{ venue: 'venue_b', mode: 'reduce_only', since: session.in(0) }];
    await session.live.ask({ op: 'switches_changed' });
    expect(await session.refusal(closed)).toEqual([503, 'EXCHANGE_TRADING_HALTED']);
    expect(await session.refusal(submission(session.user_id, { side: 'sell' }))).toEqual([
      409,
      'INSUFFICIENT_POSITION',
    ]);
    expect((await session.live.journaled()).length).toBe(before);
  });

  it('is refused with 429 if it is the sixth within a second', async () => {
    await session.close();
    session = await CellSession.open({ limitsFactor: 1 });
    const statuses = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push((await session.live.ask<'submit'>(submission(session.user_id))).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    session.leap(1_001);
    expect((await session.live.ask<'submit'>(submission(session.user_id))).status).toBe(200);
  });

  it('that is still queued when trading is halted fails and is not sent', async () => {
    const order_id = await session.submit();
    const task = await session.executor.task('submit');
    session.world.operators.switches = [{ mode: 'halted', since: session.in(0) }];
    await session.live.ask({ op: 'switches_changed' });
    await eventually(async () => expect(await session.orderOf(order_id)).toMatchObject({ status: 'failed' }));
    expect(await session.orderOf(order_id)).toMatchObject({ failure: { code: 'EXCHANGE_TRADING_HALTED' } });
    expect(await session.executor.begin(task.terms)).toBe(409);
  });

  it('is sent again only with proof that nothing reached the book', async () => {
    const order_id = await session.submit({ max_retries: 1 });
    const task = await session.executor.task('submit');
    await session.executor.begin(task.terms);
    await session.executor.report(task, { what: 'not-sent', failure: { code: 'EXCHANGE_UNAVAILABLE' } });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'queued', attempts: 1 });
    const second = await session.executor.task('submit');
    expect(second.attempt).toBe(2);
    await session.executor.begin(second.terms, 2);
    // A late report on the first attempt does not change the second.
    await session.executor.report(task, { what: 'refused', failure: { code: 'VENUE_REJECTED' } });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'submitting', attempts: 2 });
    await session.executor.report(second, { what: 'not-sent', failure: { code: 'EXCHANGE_UNAVAILABLE' } });
    expect(await session.orderOf(order_id)).toMatchObject({
      ...{ status: 'failed', attempts: 2, terminal_reason: 'FAILED' },
      failure: { code: 'EXCHANGE_UNAVAILABLE', classification: 'retryable', details: { actions: ['retry'] } },
    });
  });

  it('with GTD at a venue without expiry is cancelled there at its expiry time, and expires', async () => {
    const expires_at = session.in(60_000);
    const order_id = await session.submit({ venue: 'venue_e', time_in_force: 'GTD', expires_at });
    const terms = await session.executor.places();
    session.leap(60_100);
    const task = await session.executor.task('cancel');
    const order = seenOf(terms, [], { status: 'cancelled', ended_by: 'user' });
    await session.executor.report(task, { what: 'cancelled', order, fills: [] });
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'expired', terminal_reason: 'EXPIRED' });
  });
});

describe('a cancel', () => {
  it('is not ended by a repeated refusal of an earlier cancel', async () => {
    const order_id = await session.submit();
    await session.executor.places();
    await session.cancel(order_id);
    const first = await session.executor.task('cancel');
    const refusal = { what: 'refused', failure: { code: 'VENUE_REJECTED' } } as const;
    expect(await session.executor.report(first, refusal)).toBe(200);
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'open' });
    await session.cancel(order_id);
    expect(await session.executor.report(first, refusal)).toBe(200);
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'cancel_requested' });
  });

  it('of a queued order ends it at once, and nothing is sent to the venue', async () => {
    const order_id = await session.submit();
    const task = await session.executor.task('submit');
    expect((await session.cancel(order_id)).body).toMatchObject({ status: 'cancelled', success: true });
    expect(await session.executor.begin(task.terms)).toBe(409);
    expect((await session.cancel(order_id)).body).toMatchObject({
      ...{ status: 'cancelled', success: false, terminal_reason: 'USER' },
    });
  });

  it('of an order that is being sent goes to the venue once the venue has the order', async () => {
    const order_id = await session.submit();
    const task = await session.executor.task('submit');
    await session.executor.begin(task.terms);
    expect((await session.cancel(order_id)).body).toMatchObject({
      status: 'cancel_requested',
      success: true,
    });
    await session.executor.report(task, { what: 'placed', order: seenOf(task.terms), fills: [] });
    const cancelTask = await session.executor.task('cancel');
    const order = seenOf(task.terms, [2n * ONE], { status: 'cancelled' });
    await session.executor.report(cancelTask, {
      what: 'cancelled',
      order,
      fills: [fillOf(task.terms, 2n * ONE)],
    });
    expect(await session.orderOf(order_id)).toMatchObject({
      ...{ status: 'cancelled', terminal_reason: 'USER', filled_quantity: '2', remaining_quantity: '8' },
    });
  });

  it('of all orders waits for the venue and counts the results', async () => {
    const [queued, open] = [await session.submit({ market_id: 'SNOW' }), await session.submit()];
    await session.executor.claim();
    const rain = await eventually(async () => {
      const task = await session.executor.task('submit');
      if (task.terms.order_id !== open) throw new Error('this is the task of another order');
      return task;
    });
    await session.executor.begin(rain.terms);
    await session.executor.report(rain, { what: 'placed', order: seenOf(rain.terms), fills: [] });
    const all = session.live.ask<'cancel_all'>({
      ...{
        op: 'cancel_all',
        user_id: session.user_id,
        request_id: REQUEST,
        select: { venue: 'venue_b' },
        cause: 'CANCEL_ALL',
      },
    });
    const task = await session.executor.task('cancel');
    const order = seenOf(rain.terms, [], { status: 'cancelled' });
    await session.executor.report(task, { what: 'cancelled', order, fills: [] });
    expect((await all).body).toMatchObject({ requested: 2, cancelled: 2, pending: 0, failed: [] });
    expect(await session.orderOf(queued)).toMatchObject({ terminal_reason: 'CANCEL_ALL' });
  });

  it('by cancel-after comes when the timer is not renewed, also after a restart', async () => {
    const order_id = await session.submit();
    const arm = {
      op: 'cancel_after',
      user_id: session.user_id,
      request_id: REQUEST,
      timeout_ms: 10_000,
    } as const;
    expect((await session.live.ask<'cancel_after'>(arm)).body.armed_until).toMatch(/Z$/);
    session.leap(6_000);
    await session.live.ask<'cancel_after'>(arm);
    session.leap(6_000);
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'queued' });
    await session.restart(5_000);
    await eventually(async () =>
      expect(await session.orderOf(order_id)).toMatchObject({
        status: 'cancelled',
        terminal_reason: 'CANCEL_AFTER',
      }),
    );
  });

  it('follows a lost connection after its grace, but not a resumed one', async () => {
    const [kept, lost] = [
      await session.submit({ connection_id: 'c-1' }),
      await session.submit({ connection_id: 'c-2' }),
    ];
    const connection = {
      op: 'connection',
      user_id: session.user_id,
      request_id: REQUEST,
      grace_ms: 2_000,
      attachment: 1,
    } as const;
    for (const connection_id of ['c-1', 'c-2'])
      await session.live.ask<'connection'>({ ...connection, connection_id, how: 'LOST' });
    await session.live.ask<'connection'>({ ...connection, connection_id: 'c-1', how: 'RESUMED' });
    session.leap(2_100);
    await eventually(async () =>
      expect(await session.orderOf(lost)).toMatchObject({ terminal_reason: 'DISCONNECT' }),
    );
    expect(await session.orderOf(kept)).toMatchObject({ status: 'queued' });
  });
});

describe('an amend', () => {
  it('is answered once the venue has answered', async () => {
    const order_id = await session.submit();
    const terms = await session.executor.places();
    const reply = session.amend(order_id, 450_000n);
    const task = await session.executor.task('amend');
    await session.executor.report(task, {
      what: 'amended',
      price: 450_000n,
      order: seenOf(terms, [], { price: 450_000n }),
    });
    expect((await reply).body).toMatchObject({ success: true, price: 450_000n, quantity: TEN });
    expect(await session.orderOf(order_id)).toMatchObject({ price: '0.45', version: 4 });
    const same = await session.amend(order_id, 450_000n);
    expect(same.body.success).toBe(true);
    const off = await session.amend(order_id, 455_500n);
    expect([off.status, off.code]).toEqual([400, 'VALIDATION_INVALID_PRICE']);
    expect(off.body).toMatchObject({ details: { field: 'price' } });
  });

  it('to an invalid price is refused, even if the grid of the market is unknown', async () => {
    const { market } = wantedTerms(session.user_id);
    const gridless = { min_size: market.min_size, closes_at: market.closes_at };
    const order_id = await session.submit({ market: gridless });
    for (const price of [-1n, 0n, ONE + 1n]) {
      const { status, code } = await session.amend(order_id, price);
      expect([status, code]).toEqual([400, 'VALIDATION_INVALID_PRICE']);
    }
    expect(await session.orderOf(order_id)).toMatchObject({ price: '0.4', version: 1 });
  });

  it('that the venue refuses leaves the order unchanged, and another amend may follow', async () => {
    const order_id = await session.submit();
    const terms = await session.executor.places();
    const reply = session.amend(order_id, 450_000n);
    const task = await session.executor.task('amend');
    expect((await session.amend(order_id, 460_000n)).body.success).toBe(false);
    await session.executor.report(task, {
      what: 'refused',
      failure: { code: 'VENUE_REJECTED', message: 'no' },
    });
    expect((await reply).body).toMatchObject({ success: false, message: expect.stringContaining('no') });
    const next = session.amend(order_id, 460_000n);
    const second = await session.executor.task('amend');
    // A late report on the first amend does not change the second.
    await session.executor.report(task, { what: 'refused', failure: { code: 'VENUE_REJECTED' } });
    const order = seenOf(terms, [], { price: 460_000n });
    await session.executor.report(second, { what: 'amended', price: 460_000n, order });
    expect((await next).body).toMatchObject({ success: true, price: 460_000n });
  });

  it('with an unreadable answer ends at the price that the venue shows', async () => {
    const order_id = await session.submit();
    const terms = await session.executor.places();
    void session.amend(order_id, 450_000n);
    const task = await session.executor.task('amend');
    await session.executor.report(task, { what: 'doubtful', reason: 'unreadable' });
    const query = await session.executor.task('query');
    await session.executor.report(query, {
      what: 'placed',
      order: seenOf(terms, [], { price: 450_000n }),
      fills: [],
    });
    expect(await session.orderOf(order_id)).toMatchObject({ price: '0.45', status: 'open' });
  });
});

describe('a restart', () => {
  it('recovers the same state from the journal, with and without a snapshot', async () => {
    await session.close();
    session = await CellSession.open({ snapshotEvery: 3 });
    const ids = [
      await session.submit(),
      await session.submit({ market_id: 'SNOW' }),
      await session.submit({ market_id: 'HAIL' }),
    ];
    await session.executor.places([4n * ONE]);
    await session.executor.places([TEN]);
    const before = await Promise.all([...ids.map((id) => session.orderOf(id)), exposureNow()]);
    await eventually(async () => {
      const { rowCount } = await session.world.database.pool.query('select 1 from journal.snapshots');
      expect(rowCount).toBeGreaterThan(0);
    });
    await session.restart();
    expect(await Promise.all([...ids.map((id) => session.orderOf(id)), exposureNow()])).toEqual(before);
    await session.world.database.pool.query('delete from journal.snapshots');
    await session.restart();
    expect(await Promise.all([...ids.map((id) => session.orderOf(id)), exposureNow()])).toEqual(before);
  });

  async function exposureNow() {
    return { ...(await session.exposure()), as_of: undefined };
  }

  it('leads to a query about an order that was being sent, not to a second order', async () => {
    const order_id = await session.submit();
    const task = await session.executor.task('submit');
    await session.executor.begin(task.terms);
    await session.restart();
    session.leap(5_100);
    const query = await session.executor.task('query');
    expect(query.terms.order_id).toBe(order_id);
    expect(await session.orderOf(order_id)).toMatchObject({ status: 'pending_venue' });
    expect(await session.executor.claim()).toEqual([]);
  });
});

describe('the tasks of an executor', () => {
  it('that dies: an order being sent is in doubt, and other tasks go to the next executor', async () => {
    const [begun, idle] = [await session.submit(), await session.submit({ market_id: 'SNOW' })];
    const task = await session.executor.task('submit');
    const other = await session.executor.task('submit');
    const first = task.terms.order_id === begun ? task : other;
    await session.executor.begin(first.terms);
    const next = new PlayedExecutor(session.live, 'executor-2');
    session.leap(5_200);
    expect((await next.task('query')).terms.order_id).toBe(begun);
    expect(await session.orderOf(begun)).toMatchObject({ status: 'pending_venue' });
    expect((await next.task('submit')).terms.order_id).toBe(idle);
    expect(await session.executor.begin(other.terms)).toBe(409);
  });

  it('of one market are given out one at a time, in the order of the orders', async () => {
    const ids = [await session.submit(), await session.submit()];
    await session.executor.claim();
    const first = await session.executor.task('submit');
    expect(first.terms.order_id).toBe(ids[0]);
    expect(await session.executor.claim()).toEqual([]);
    await session.executor.begin(first.terms);
    await session.executor.report(first, { what: 'placed', order: seenOf(first.terms), fills: [] });
    expect((await session.executor.task('submit')).terms.order_id).toBe(ids[1]);
  });
});

it('an order has a client id at the venue that is durable before the send', async () => {
  await session.submit();
  const task = await session.executor.task('submit');
  await session.executor.begin(task.terms);
  expect(await session.live.journaled()).toContainEqual(
    expect.objectContaining({ type: 'SUBMISSION_STARTED', venue_client_id: task.terms.order_id }),
  );
  // By this id the account's feed shows that the order is ours, even before the answer comes.
  const seen = {
    ...seenOf(task.terms),
    market_id: 'RAIN',
    outcome: 'Yes',
    outcome_index: 0,
    side: 'buy',
  } as const;
  await session.live.ask({
    op: 'observed',
    account: 'account-b',
    user_id: session.user_id,
    venue: 'venue_b',
    orders: [seen],
    fills: [],
  });
  expect(await session.orderOf(task.terms.order_id)).toMatchObject({
    ...{ status: 'open', exchange_order_id: exchangeIdOf(task.terms) },
  });
});

it('a market order that found nothing fails with the reason in its answer, also if the venue socket is faster', async () => {
  const order_id = await session.submit({ kind: 'market', time_in_force: 'IOC' });
  const task = await session.executor.task('submit');
  await session.executor.begin(task.terms);
  const order = seenOf(task.terms, [], { status: 'cancelled' });
  const { market_id, outcome, side } = task.terms;
  await session.live.ask({
    ...{ op: 'observed', account: 'account-b', user_id: session.user_id, venue: 'venue_b', fills: [] },
    orders: [{ ...order, market_id, outcome, outcome_index: 0, side }],
  });
  expect(await session.orderOf(order_id)).toMatchObject({ status: 'submitting' });
  await session.executor.report(task, { what: 'placed', order, fills: [], unfilled: 'beyond-bound' });
  expect(await session.orderOf(order_id)).toMatchObject({
    ...{ status: 'failed', failure: { code: 'SLIPPAGE_EXCEEDED' } },
  });
});
