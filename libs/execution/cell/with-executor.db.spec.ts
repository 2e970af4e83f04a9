import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { CellSession, REQUEST } from '#libs/testing/cells/cell-session.js';
import type { WantedTerms } from '#libs/testing/cells/orders.js';
import { nextTurn } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { HeldKeys } from '#libs/testing/execution/held-keys.js';
import { openPracticeB, type BClient, type PracticeB } from '#libs/testing/practice-b.js';
import type { CellRequest } from '../protocol/cell-protocol.js';
import { fromWire, toWire } from '../protocol/wire.js';
import { Executor } from '../executor/executor.js';
import { ONE } from '../rules/micros.js';
import { openVenues } from '../venues/registry.js';

/** Leaves time for slow, busy machines. */
jest.setTimeout(40_000);

let practice: PracticeB;
let session: CellSession;
let executor: Executor;
let client: BClient;
let market: string;
let faults: unknown[];
const calls = { balances: 0, begins: 0, beginsLost: 0 };
/** Fails open requests when the cell is gone, as a link does. */
let lost: { readonly of: Promise<never>; readonly now: () => void };

function unbroken(): typeof lost {
  let now: () => void = () => undefined;
  const of = new Promise<never>((_, reject) => {
    now = () => {
      reject(new Error('the cell is gone'));
    };
  });
  of.catch(() => undefined);
  return { of, now };
}

beforeAll(async () => {
  practice = await openPracticeB();
});
afterAll(() => practice.close());

beforeEach(async () => {
  lost = unbroken();
  session = await CellSession.open();
  client = await practice.account();
  const ring = new HeldKeys();
  await ring.storeKey(session.user_id, client.keys);
  const { user_id, live } = session;
  await live.ask({ op: 'link_account', user_id, venue: 'venue_b', account: client.account });
  faults = [];
  // The cell's time leaps, but signatures for the venue need the real time.
  const clock = new SystemClock();
  const base = `http://127.0.0.1:${practice.open.port}`;
  const venues = openVenues(
    {
      ...{ VENUES: ['b'], VENUE_B_URL: `${base}/trade-api/v2`, VENUE_B_WS_URL: undefined },
      VENUE_B_ACCOUNTS_URL: `http://127.0.0.1:${practice.admin.port}`,
      VENUE_E_URL: undefined,
    },
    { clock, signer: ring },
  );
  Object.assign(calls, { balances: 0, begins: 0, beginsLost: 0 });
  const link = {
    request: (request: CellRequest) => {
      if (request.op === 'balances') calls.balances += 1;
      const reply = session.live.cell.handle(fromWire(toWire(request)) as CellRequest);
      const isLost = request.op === 'begin_submission' && ++calls.begins <= calls.beginsLost;
      return isLost ? reply.then(() => Promise.reject(new Error('cut'))) : Promise.race([reply, lost.of]);
    },
  };
  executor = new Executor({
    ...{ links: [link], venues, signer: ring, clock, name: 'executor-0:joint', concurrency: 8 },
    meter: { called: () => undefined },
    onFault: (_, error) => faults.push(error),
  });
  market = await practice.market();
  executor.start();
});
afterEach(async () => {
  await practice.call('DELETE', '/faults');
  await executor.stop();
  await session.close();
});

const fault = (more: object): Promise<unknown> =>
  practice.call('POST', '/faults', { exchange_id: 'venue_b', ...more });

async function submit(different: Partial<WantedTerms> = {}): Promise<string> {
  return session.submit({ market_id: market, ...different });
}

function becomes(order_id: string, expected: Record<string, unknown>): Promise<unknown> {
  return eventually(async () => expect(await session.orderOf(order_id)).toMatchObject(expected));
}

async function offer(price: string, count = '10.00'): Promise<void> {
  const maker = await practice.account();
  await maker.orders.createOrderV2({
    ...{ ticker: market, side: 'ask', count, price, time_in_force: 'good_till_canceled' },
    self_trade_prevention_type: 'taker_at_cross',
  });
}

async function differences(): Promise<unknown> {
  const { body } = await session.live.ask<'reconciliation'>({ op: 'reconciliation' });
  return body.differences;
}

it('buys, holds and sells shares', async () => {
  await offer('0.3500');
  const bought = await submit();
  await becomes(bought, { status: 'filled', average_fill_price: '0.35', fees: { source: 'venue' } });
  expect(await session.positions()).toMatchObject([
    { net_size: '10', avg_entry_price_bps: 3500, reservations_verified: true },
  ]);
  const sold = await submit({ side: 'sell', price: 900_000n });
  await becomes(sold, { status: 'open' });
  expect(await session.positions()).toMatchObject([{ reserved: '10', available_to_sell: '0' }]);
  expect((await session.amend(sold, 950_000n)).body).toMatchObject({ success: true, price: 950_000n });
  await session.cancel(sold);
  await becomes(sold, { status: 'cancelled', terminal_reason: 'USER', price: '0.95' });
});

it('keeps records that agree with the venue in every pass', async () => {
  await offer('0.3500', '4.00');
  await becomes(await submit(), { status: 'partially_filled', filled_quantity: '4' });
  for (let pass = 0; pass < 3; pass += 1) {
    const before = calls.balances;
    session.leap(16_000);
    await eventually(() => expect(calls.balances).toBeGreaterThan(before));
  }
  await eventually(async () => expect(await differences()).toEqual([]));
  expect((await session.live.journaled()).map(({ type }) => type)).not.toContain('DIFFERENCE_FOUND');
});

it('an order whose reply was lost is found at the venue and not sent twice', async () => {
  await fault({ fault: 'drop_reply', calls: ['submit'], count: 1 });
  const order_id = await submit();
  await becomes(order_id, { status: 'open', attempts: 1 });
  const { body } = await practice.call('GET', `/markets/venue_b/${market}`);
  expect((body as { orders: unknown[] }).orders).toHaveLength(1);
});

it("when the cell's answer to begin is lost, the executor asks again at once", async () => {
  calls.beginsLost = 1;
  const order_id = await submit();
  await becomes(order_id, { status: 'open', attempts: 1 });
  expect(calls.begins).toBe(2);
  const { body } = await practice.call('GET', `/markets/venue_b/${market}`);
  expect((body as { orders: unknown[] }).orders).toHaveLength(1);
});

it('an order that the cell does not confirm is returned, and sent once later', async () => {
  calls.beginsLost = 16;
  const order_id = await submit();
  await eventually(
    async () => expect(await session.orderOf(order_id)).toMatchObject({ status: 'queued', attempts: 1 }),
    10_000,
  );
  calls.beginsLost = 0;
  session.leap(300);
  await becomes(order_id, { status: 'open', attempts: 2 });
  const { body } = await practice.call('GET', `/markets/venue_b/${market}`);
  expect(body).toMatchObject({ orders: [{ client_order_id: `${order_id}-2` }] });
});

it('an order that never reached the venue is proven absent and fails', async () => {
  await fault({ fault: 'drop_request', calls: ['submit'], count: 1 });
  const order_id = await submit();
  await becomes(order_id, { status: 'failed', failure: { code: 'EXCHANGE_NOT_PLACED' } });
  const { body } = await practice.call('GET', `/markets/venue_b/${market}`);
  expect((body as { orders: unknown[] }).orders).toHaveLength(0);
});

it('a market order that found nothing fails with the reason', async () => {
  const order_id = await submit({ kind: 'market', bound: 450_000n });
  await becomes(order_id, { status: 'failed', failure: { code: 'NO_LIQUIDITY' } });
  const fok = await submit({ time_in_force: 'FOK' });
  await becomes(fok, { status: 'failed', failure: { code: 'FOK_NOT_FILLED' } });
});

it('cancels all orders of a user at once', async () => {
  const ids = [await submit(), await submit({ price: 300_000n }), await submit({ price: 200_000n })];
  for (const id of ids) await becomes(id, { status: 'open' });
  const { body } = await session.live.ask<'cancel_all'>({
    ...({ op: 'cancel_all', cause: 'CANCEL_ALL', request_id: REQUEST } as const),
    ...{ user_id: session.user_id, select: { market_id: market } },
  });
  expect(body).toMatchObject({ requested: 3, cancelled: 3, pending: 0, failed: [] });
});

it('many cancels go to the venue in one request, and if its answer is lost each order is queried', async () => {
  const ids = [];
  for (let count = 0; count < 6; count += 1)
    ids.push(await submit({ price: 100_000n + BigInt(count) * 10_000n }));
  for (const id of ids) await becomes(id, { status: 'open' });
  await fault({ fault: 'drop_reply', calls: ['cancel'], count: 1 });
  const { body } = await session.live.ask<'cancel_all'>({
    ...({ op: 'cancel_all', cause: 'CANCEL_ALL', request_id: REQUEST } as const),
    ...{ user_id: session.user_id, select: { market_id: market } },
  });
  expect(body).toMatchObject({ requested: 6, failed: [] });
  for (const id of ids) await becomes(id, { status: 'cancelled', terminal_reason: 'CANCEL_ALL' });
  const requests = (await session.live.journaled()).flatMap((event) =>
    'call' in event && event.call.operation === 'cancel' ? [event.call.request_sha256] : [],
  );
  // One request for all of them, recorded in the history of each.
  expect([requests.length, new Set(requests).size]).toEqual([6, 1]);
});

it('a stopped executor takes no more tasks, and the next one gets the order at once', async () => {
  await becomes(await submit(), { status: 'open' });
  await executor.stop();
  const order_id = await submit({ price: 300_000n });
  // Waiting claims are answered within two turns.
  await nextTurn();
  await nextTurn();
  const tasks = await session.executor.claim();
  expect(tasks).toContainEqual(
    expect.objectContaining({ kind: 'submit', terms: expect.objectContaining({ order_id }) }),
  );
});

it('resumes its work after a restart of the cell', async () => {
  const ids = [];
  // An order that was begun and never sent is proven absent, and then sent.
  for (let count = 0; count < 6; count += 1)
    ids.push(await submit({ price: 100_000n + BigInt(count) * 10_000n, max_retries: 3 }));
  lost.now();
  lost = unbroken();
  await session.restart();
  for (const id of ids) await becomes(id, { status: 'open' });
  const { body } = await practice.call('GET', `/markets/venue_b/${market}`);
  expect((body as { orders: unknown[] }).orders).toHaveLength(6);
  await becomes(await submit({ quantity: ONE }), { status: 'open' });
});
