import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { instantFromNanos, plusMillis } from '#libs/base/instant.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { orderUuid, termsOf } from '#libs/testing/execution/cell-journal.js';
import { HeldKeys } from '#libs/testing/execution/held-keys.js';
import { ScriptedCell } from '#libs/testing/execution/scripted-cell.js';
import { openPracticeB, type BClient, type PracticeB } from '#libs/testing/practice-b.js';
import type { ExecutorTask } from '../protocol/cell-protocol.js';
import { VAULT_USER } from '../protocol/signer-protocol.js';
import type { OrderTerms } from '../rules/order.js';
import { openVenues } from '../venues/registry.js';
import { Executor } from './executor.js';
import type { TransferTask } from './transfer-tasks.js';

const clock = new SystemClock();
const ONE = 1_000_000n;
const cents = (price: number): bigint => BigInt(price) * 10_000n;

let practice: PracticeB;
let cell: ScriptedCell;
let executor: Executor;
let ring: HeldKeys;
let faults: unknown[];
const stops: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  practice = await openPracticeB();
});
afterAll(() => practice.close());

beforeEach(async () => {
  cell = await ScriptedCell.open();
  ring = new HeldKeys();
  faults = [];
  const base = `http://127.0.0.1:${practice.open.port}`;
  const venues = openVenues(
    {
      ...{ VENUES: ['b'], VENUE_B_URL: `${base}/trade-api/v2`, VENUE_B_WS_URL: undefined },
      VENUE_B_ACCOUNTS_URL: `http://127.0.0.1:${practice.admin.port}`,
      VENUE_E_URL: undefined,
    },
    { clock, signer: ring },
  );
  executor = new Executor({
    ...{ links: [cell.link], venues, signer: ring, clock, name: 'executor-0:test', concurrency: 8 },
    meter: { called: () => undefined },
    onFault: (_, error) => faults.push(error),
  });
  executor.start();
});

afterEach(async () => {
  await practice.call('DELETE', '/faults');
  await executor.stop();
  cell.close();
  for (const stop of stops.splice(0)) await stop();
});

async function trader(dollars?: string): Promise<{ user: string; client: BClient }> {
  const user = randomUUID();
  const client = await practice.account(dollars);
  await ring.storeKey(user, client.keys);
  return { user, client };
}

function submission(user: string, market: string, more: Partial<OrderTerms> = {}): OrderTerms {
  return termsOf({ order_id: orderUuid(randomUUID()), user_id: user, market_id: market, ...more });
}

type Report = Awaited<ReturnType<ScriptedCell['give']>>['report'];
async function submit(terms: OrderTerms): Promise<Report> {
  const { user_id, venue } = terms;
  return (await cell.give({ kind: 'submit', user_id, venue, terms, attempt: 1 })).report;
}

async function query(terms: OrderTerms, exchange_order_id?: string): Promise<Report> {
  const since = plusMillis(instantFromNanos(clock.epochNanos()), -60_000);
  const { user_id, venue, order_id: venue_client_id } = terms;
  const known = exchange_order_id === undefined ? {} : { exchange_order_id };
  const result = await cell.give({ kind: 'query', user_id, venue, terms, venue_client_id, since, ...known });
  return result.report;
}

async function ordersIn(market: string): Promise<readonly { client_order_id?: string }[]> {
  const { body } = await practice.call('GET', `/markets/venue_b/${market}`);
  return (body as { readonly orders: readonly { client_order_id?: string }[] }).orders;
}

async function offer(market: string, price: string, count = '10.00'): Promise<BClient> {
  const maker = await practice.account();
  await maker.orders.createOrderV2({
    ...{ ticker: market, side: 'ask', count, price, time_in_force: 'good_till_canceled' },
    self_trade_prevention_type: 'taker_at_cross',
  });
  return maker;
}

const fault = (more: object): Promise<unknown> =>
  practice.call('POST', '/faults', { exchange_id: 'venue_b', ...more });

describe('a submit', () => {
  it('is durable under its id before it is sent, and then rests', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    const terms = submission(user, market);
    let seenAtBegin = -1;
    cell.onBegin = async () => {
      seenAtBegin = (await ordersIn(market)).length;
      return true;
    };
    const report = await submit(terms);
    expect(seenAtBegin).toBe(0);
    const { order_id } = terms;
    const sent = { quantity: 10n * ONE, price: cents(40) };
    expect(cell.all('begin_submission')).toMatchObject([{ order_id, venue_client_id: order_id, sent }]);
    expect(report).toMatchObject({ what: 'placed', order: { status: 'resting', filled: 0n }, fills: [] });
    expect(await ordersIn(market)).toMatchObject([{ client_order_id: terms.order_id }]);
  });

  it('is not sent if the cell refuses it', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    cell.onBegin = () => false;
    expect(await submit(submission(user, market))).toEqual({ what: 'told' });
    expect(await ordersIn(market)).toEqual([]);
  });

  it('that trades and then meets an own order ends with self-trade', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    const no = { outcome: 'No', outcome_index: 1, price: cents(62), bound: cents(62) };
    await submit(submission(user, market, no));
    await offer(market, '0.3500', '4.00');
    expect(await submit(submission(user, market))).toMatchObject({
      ...{ what: 'placed', order: { status: 'cancelled', ended_by: 'self-trade', filled: 4n * ONE } },
    });
  });

  it('reports its fills with the fee of the venue', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    await offer(market, '0.3500');
    const report = await submit(submission(user, market));
    expect(report).toMatchObject({
      ...{ what: 'placed', order: { status: 'filled', filled: 10n * ONE } },
      fills: [
        { outcome: 'Yes', side: 'buy', fill: { price: cents(35), quantity: 10n * ONE, is_fee_told: true } },
      ],
    });
  });

  it('of No is priced in dollars of No, and its shares are sold as No', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    const maker = await practice.account();
    const bid = { ticker: market, side: 'bid', count: '10.00', time_in_force: 'good_till_canceled' } as const;
    await maker.orders.createOrderV2({
      ...bid,
      price: '0.7000',
      self_trade_prevention_type: 'taker_at_cross',
    });
    const no = { outcome: 'No', outcome_index: 1, price: cents(30), bound: cents(30) };
    expect(await submit(submission(user, market, no))).toMatchObject({
      fills: [{ outcome: 'No', side: 'buy', fill: { price: cents(30) } }],
    });
    const sale = await submit(submission(user, market, { ...no, side: 'sell', price: cents(60) }));
    expect(sale).toMatchObject({ what: 'placed', order: { status: 'resting', price: cents(60) } });
    const { body } = await practice.call('GET', `/markets/venue_b/${market}`);
    expect(body).toMatchObject({ books: [{ bids: [{ price: '0.4' }] }, { outcome: 'No' }] });
  });

  it('is not sent without the signer', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    ring.isAway = true;
    const failure = { code: 'SIGNER_UNAVAILABLE' };
    for (const side of ['sell', 'buy'] as const)
      expect(await submit(submission(user, market, { side }))).toMatchObject({ what: 'not-sent', failure });
  });

  it.each([
    ['no offers', undefined, 'empty'],
    ['all offers above the bound', '0.6000', 'beyond-bound'],
  ] as const)('that never rests ends with the reason: %s', async (_, price, unfilled) => {
    const [{ user }, market] = [await trader(), await practice.market()];
    if (price !== undefined) await offer(market, price);
    const terms = submission(user, market, { kind: 'market', bound: cents(45), time_in_force: 'IOC' });
    expect(await submit(terms)).toMatchObject({ what: 'placed', order: { status: 'cancelled' }, unfilled });
  });

  it('moves missing collateral from the other shard only if shard funding is allowed', async () => {
    const [{ user }, market] = [await trader('100'), await practice.market({ shard: 1 })];
    const terms = submission(user, market);
    const there = { ...terms.market, shard: 1 };
    expect(await submit({ ...terms, market: there, shard_funding: false })).toMatchObject({
      ...{ what: 'refused', failure: { code: 'INSUFFICIENT_BALANCE' } },
    });
    expect(await submit({ ...terms, market: there })).toMatchObject({ what: 'placed' });
  });

  it.each([
    [{ fault: 'drop_reply', calls: ['submit'] }, 1],
    [{ fault: 'unreadable', calls: ['submit'] }, 1],
    [{ fault: 'drop_request', calls: ['submit'] }, 0],
    [{ fault: 'error', calls: ['submit'] }, 0],
  ])('is in doubt after %j, and is not sent again', async (order, there) => {
    const [{ user }, market] = [await trader(), await practice.market()];
    const terms = submission(user, market);
    await fault(order);
    expect(await submit(terms)).toMatchObject({ what: 'doubtful' });
    expect(await ordersIn(market)).toHaveLength(there);
    expect(await query(terms)).toMatchObject(
      there === 1 ? { what: 'placed', order: { status: 'resting' } } : { what: 'absent' },
    );
    expect(await ordersIn(market)).toHaveLength(there);
  });
});

describe('lessons from other platforms', () => {
  it('a network outage marks no order as failed', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    const terms = submission(user, market);
    const placed = await submit(terms);
    expect(placed).toMatchObject({ what: 'placed' });
    await fault({ fault: 'disconnect', ms: 2_000 });
    expect(await query(terms)).toMatchObject({ what: 'doubtful' });
    expect(await submit(submission(user, market, { side: 'sell' }))).toMatchObject({
      ...{ what: 'not-sent', failure: { code: 'EXCHANGE_UNAVAILABLE' } },
    });
  });

  it('an order that filled at once is found by query, and not taken for rejected', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    await offer(market, '0.3500');
    const terms = submission(user, market);
    await fault({ fault: 'drop_reply', calls: ['submit'] });
    expect(await submit(terms)).toMatchObject({ what: 'doubtful' });
    expect(await query(terms)).toMatchObject({
      ...{ what: 'placed', order: { status: 'filled' } },
      fills: [{ fill: { quantity: 10n * ONE } }],
    });
  });

  it('a fill across both outcomes is found by order and account, never by outcome', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    const terms = submission(user, market);
    const placed = await submit(terms);
    const id = placed.what === 'placed' ? placed.order.exchange_order_id : '';
    await offer(market, '0.4000', '4.00');
    expect(await query(terms, id)).toMatchObject({
      ...{ what: 'placed', order: { status: 'resting', filled: 4n * ONE } },
      fills: [{ outcome: 'Yes', side: 'buy', fill: { price: cents(40), liquidity: 'maker' } }],
    });
  });

  it('a cancelled order keeps the quantity of its fills', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    await offer(market, '0.4000', '4.00');
    const terms = submission(user, market, { time_in_force: 'IOC' });
    const report = await submit(terms);
    expect(report).toMatchObject({ what: 'placed', order: { status: 'cancelled', filled: 4n * ONE } });
    expect(report.what === 'placed' ? report.fills.map(({ fill }) => fill.quantity) : []).toEqual([4n * ONE]);
  });

  it('an order that lands after the timeout is found, and is not sent again', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    const terms = submission(user, market);
    await fault({ fault: 'delay', calls: ['submit'], ms: 11_000 });
    expect(await submit(terms)).toMatchObject({ what: 'doubtful' });
    await eventually(async () => expect(await query(terms)).toMatchObject({ what: 'placed' }), 10_000);
    expect(await ordersIn(market)).toHaveLength(1);
  });

  it('a good status with an unreadable body is a doubt, and the body is kept', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    await fault({ fault: 'unreadable', calls: ['submit'] });
    const terms = submission(user, market);
    const result = await cell.give({ kind: 'submit', user_id: user, venue: 'venue_b', terms, attempt: 1 });
    expect(result.report).toMatchObject({ what: 'doubtful' });
    expect(result.call).toMatchObject({ operation: 'submit', http_status: 200, raw: expect.anything() });
    expect(result.call?.request_sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('a submit after its not_after time is never sent', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    const not_after = plusMillis(instantFromNanos(clock.epochNanos()), -1);
    expect(await submit(submission(user, market, { not_after }))).toMatchObject({
      ...{ what: 'not-sent', failure: { code: 'COMMAND_EXPIRED' } },
    });
    expect([cell.all('begin_submission'), await ordersIn(market)]).toEqual([[], []]);
  });
});

describe('cancels and amends', () => {
  async function resting(): Promise<{ terms: OrderTerms; exchange_order_id: string; market: string }> {
    const [{ user }, market] = [await trader(), await practice.market()];
    const terms = submission(user, market);
    const placed = await submit(terms);
    if (placed.what !== 'placed') throw new Error('it does not rest');
    return { terms, market, exchange_order_id: placed.order.exchange_order_id };
  }

  type CancelTask = Omit<Extract<ExecutorTask, { readonly kind: 'cancel' }>, 'task_id'>;
  const cancelOf = (terms: OrderTerms, exchange_order_id: string): CancelTask => ({
    ...{ user_id: terms.user_id, venue: terms.venue, terms, exchange_order_id },
    ...{ kind: 'cancel', venue_client_id: terms.order_id },
  });

  it('a cancel reports the fills before it', async () => {
    const { terms, exchange_order_id, market } = await resting();
    await offer(market, '0.4000', '4.00');
    expect((await cell.give(cancelOf(terms, exchange_order_id))).report).toMatchObject({
      ...{ what: 'cancelled', order: { status: 'cancelled', filled: 4n * ONE } },
      fills: [{ fill: { quantity: 4n * ONE } }],
    });
  });

  it('a cancel of a filled order reports the order as filled', async () => {
    const { terms, exchange_order_id, market } = await resting();
    await offer(market, '0.4000');
    expect((await cell.give(cancelOf(terms, exchange_order_id))).report).toMatchObject({
      ...{ what: 'placed', order: { status: 'filled', filled: 10n * ONE } },
    });
  });

  it('an amend that meets an own order ends the order with self-trade', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    const no = { outcome: 'No', outcome_index: 1, price: cents(40), bound: cents(40) };
    await submit(submission(user, market, no));
    const terms = submission(user, market);
    const placed = await submit(terms);
    const exchange_order_id = placed.what === 'placed' ? placed.order.exchange_order_id : '';
    const { report } = await cell.give({
      ...{ kind: 'amend', user_id: user, venue: terms.venue, terms, exchange_order_id },
      ...{ amend_id: 'a', venue_client_id: terms.order_id, price: cents(60), quantity: terms.quantity },
    });
    expect(report).toMatchObject({
      ...{ what: 'amended', order: { status: 'cancelled', ended_by: 'self-trade', filled: 0n } },
    });
  });

  it('an amend keeps the order, and the fills it caused are reported first', async () => {
    const { terms, exchange_order_id, market } = await resting();
    await offer(market, '0.5000', '4.00');
    const { report } = await cell.give({
      ...{ kind: 'amend', user_id: terms.user_id, venue: terms.venue, terms, exchange_order_id },
      ...{ amend_id: 'a', venue_client_id: terms.order_id, price: cents(50), quantity: terms.quantity },
    });
    expect(report).toMatchObject({
      what: 'amended',
      price: cents(50),
      order: { exchange_order_id, filled: 4n * ONE },
    });
    const hasFill = ({ fills }: { readonly fills: readonly unknown[] }): boolean => fills.length > 0;
    const observed = cell.told.findIndex((one) => one.op === 'observed' && hasFill(one));
    const reported = cell.told.findIndex((one) => one.op === 'report' && one.report.what === 'amended');
    expect(observed).toBeGreaterThan(-1);
    expect(observed).toBeLessThan(reported);
  });
});

describe('accounts', () => {
  it('deposits, external orders and their fills are reported to the cell', async () => {
    const [{ user, client }, market] = [await trader('100'), await practice.market()];
    const result = await cell.give({ kind: 'reconcile', user_id: user, venue: 'venue_b' });
    expect(result.report).toEqual({ what: 'told' });
    expect(cell.all('balances').at(-1)).toMatchObject({
      cash: [
        { asset: 'USD', value: 100n * ONE, shard: 0 },
        { value: 0n, shard: 1 },
      ],
      movements: [{ movement: 'DEPOSIT', amount: 100n * ONE }],
    });
    await client.orders.createOrderV2({
      ...{ ticker: market, side: 'bid', count: '10.00', price: '0.4000' },
      ...{ time_in_force: 'good_till_canceled', self_trade_prevention_type: 'taker_at_cross' },
    });
    await offer(market, '0.4000', '4.00');
    await eventually(() => {
      const seen = cell.all('observed').filter(({ user_id }) => user_id === user);
      expect(seen.flatMap(({ orders }) => orders)).toMatchObject(
        expect.arrayContaining([expect.objectContaining({ market_id: market, status: 'resting' })]),
      );
      expect(seen.flatMap(({ fills }) => fills.map(({ fill }) => fill.quantity))).toContain(4n * ONE);
    }, 2_000);
    await practice.call('POST', '/faucet', { exchange_id: 'venue_b', account: client.account, amount: '7' });
    await eventually(() => {
      const movements = cell.all('balances').flatMap((seen) => seen.movements);
      expect(movements).toContainEqual(expect.objectContaining({ movement: 'DEPOSIT', amount: 7n * ONE }));
    }, 5_000);
    expect(faults).toEqual([]);
  });

  it('pair payments and payouts of resolved markets are reported', async () => {
    const [{ user }, market] = [await trader('100'), await practice.market()];
    await offer(market, '0.4000', '4.00');
    await submit(submission(user, market, { quantity: 4n * ONE }));
    const maker = await practice.account();
    const bid = { ticker: market, side: 'bid', count: '3.00', price: '0.5000' } as const;
    const rest = {
      time_in_force: 'good_till_canceled',
      self_trade_prevention_type: 'taker_at_cross',
    } as const;
    await maker.orders.createOrderV2({ ...bid, ...rest });
    const no = { outcome: 'No', outcome_index: 1, price: cents(50), quantity: 3n * ONE };
    await submit(submission(user, market, no));
    await practice.call('POST', `/markets/venue_b/${market}/resolve`, { payouts: ['1', '0'] });
    await cell.give({ kind: 'reconcile', user_id: user, venue: 'venue_b' });
    expect(cell.all('balances').at(-1)?.movements).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ movement: 'PAIRS', market_id: market, quantity: 3n * ONE }),
        expect.objectContaining({ movement: 'PAYOUT', outcome: 'Yes', quantity: ONE, amount: ONE }),
      ]),
    );
  });

  it('a transfer to the vault is made once per reference', async () => {
    const [{ user, client }, vault] = [await trader('100'), await practice.account('0')];
    await ring.storeKey(VAULT_USER, vault.keys);
    const transfer_id = randomUUID();
    const task: Omit<TransferTask, 'task_id'> = {
      ...{ kind: 'transfer', user_id: user, venue: 'venue_b', transfer_id },
      ...{ asset: 'USD', amount: 30n * ONE, direction: 'to_vault' },
    };
    expect((await cell.give(task)).report).toEqual({ what: 'told' });
    const steps = cell.all('transfer_report').map(({ step, reference }) => ({ step, reference }));
    expect(steps).toEqual([
      { step: 'sent', reference: transfer_id },
      { step: 'completed', reference: transfer_id },
    ]);
    await cell.give({ ...task, reference: transfer_id });
    const { data } = await client.portfolio.getBalance();
    expect(data.balance_dollars).toBe('70.0000');
  });

  it('a transfer fails before any send if the vault has no account', async () => {
    const { user } = await trader('100');
    await cell.give({
      ...{ kind: 'transfer', user_id: user, venue: 'venue_b', transfer_id: randomUUID() },
      ...{ asset: 'USD', amount: 30n * ONE, direction: 'to_vault' },
    });
    const failed = { step: 'failed', failure: { code: 'VENUE_REJECTED' } };
    expect(cell.all('transfer_report')).toMatchObject([failed]);
  });
});

describe('the health report of a venue', () => {
  it('shows an open breaker after 20 failed calls, and a halt of the venue as cancel_only', async () => {
    const [{ user }, market] = [await trader(), await practice.market()];
    await fault({ fault: 'error', calls: ['submit'], count: 20 });
    for (let sent = 0; sent < 20; sent += 1) await submit(submission(user, market, { side: 'sell' }));
    await eventually(() =>
      expect(cell.all('venue_health').at(-1)?.health.breakers).toMatchObject([
        { venue: 'venue_b', side: 'sell', kind: 'limit', time_in_force: 'GTC', state: 'open' },
      ]),
    );
    executor.breakers.reset({ venue: 'venue_b' });
    await fault({ fault: 'halt', ms: 3_000 });
    await eventually(() =>
      expect(cell.all('venue_health').at(-1)?.health).toMatchObject({
        breakers: [],
        venues: [{ venue: 'venue_b', mode: 'cancel_only' }],
      }),
    );
  });
});
