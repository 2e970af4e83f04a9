import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { LinkUnavailable } from '#libs/link/link-client.js';
import { LiveCell, Operators } from '#libs/testing/cells/live-cell.js';
import { submission, type WantedTerms } from '#libs/testing/cells/orders.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { openSigner } from '#libs/testing/execution/open-signer.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { openPracticeB, type BClient, type PracticeB } from '#libs/testing/practice-b.js';
import type { CellLink, CellRequest } from '../protocol/cell-protocol.js';
import { fromWire, toWire } from '../protocol/wire.js';
import { openVenues } from '../venues/registry.js';
import { Executor } from './executor.js';

const clock = new SystemClock();
const ONE = 1_000_000n;
const cents = (price: number): bigint => BigInt(price) * 10_000n;

/** A real cell, executor, signer and practice venue. Only the processes around them are missing. */
describe('the order lane', () => {
  let database: TestDatabase;
  let live: LiveCell;
  let practice: PracticeB;
  let executor: Executor;
  let venues: ReturnType<typeof openVenues>;
  let signer: Awaited<ReturnType<typeof openSigner>>;
  const faults: unknown[] = [];
  /** What was opened, so that a failed start leaves nothing open. */
  const opened: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    database = await createTestDatabase([
      ...[...journalMigrations, ...admissionMigrations, ...custodyMigrations],
    ]);
    opened.push(() => database.drop());
    signer = await openSigner();
    opened.push(() => signer.close());
    practice = await openPracticeB();
    opened.push(() => practice.close());
    live = await LiveCell.open({ database, clock: new MovableClock(), operators: new Operators() });
    opened.push(() => live.stop());
    const base = 'http://127.0.0.1';
    const settings = {
      ...{
        VENUES: ['b' as const],
        VENUE_B_WS_URL: undefined,
        VENUE_E_URL: undefined,
      },
      VENUE_B_URL: `${base}:${practice.open.port}/trade-api/v2`,
      VENUE_B_ACCOUNTS_URL: `${base}:${practice.admin.port}`,
    };
    venues = openVenues(settings, { clock, signer: signer.signer });
    executor = executorNamed('executor-0:first', () => true);
    executor.start();
    opened.push(() => executor.stop());
  });
  afterAll(async () => {
    for (const close of opened.reverse()) await close();
  });

  /** An executor that loses its link to the cell when `isAlive` returns false. */
  function executorNamed(name: string, isAlive: (request: CellRequest) => boolean): Executor {
    const link: Pick<CellLink, 'request'> = {
      request: (request: CellRequest) =>
        isAlive(request)
          ? live.cell.handle(fromWire(toWire(request)) as CellRequest)
          : Promise.reject(new LinkUnavailable('gone')),
    };
    return new Executor({
      ...{ links: [link], venues, signer: signer.signer, clock, name, concurrency: 16 },
      meter: { called: () => undefined },
      onFault: (what, error) => faults.push([what, String(error)]),
    });
  }

  async function trader(dollars = '100'): Promise<string> {
    const user_id = randomUUID();
    const link = { op: 'link_venue', request_id: 'r', user_id, venue: 'venue_b' } as const;
    expect(await executor.link.handle(link)).toMatchObject({ status: 200 });
    const account = await signer.signer.accountOf(user_id, 'venue_b');
    await practice.call('POST', '/faucet', {
      exchange_id: 'venue_b',
      account: account?.account,
      amount: dollars,
    });
    return user_id;
  }

  async function submit(
    user_id: string,
    market_id: string,
    more: Partial<WantedTerms> = {},
  ): Promise<string> {
    const { body, status } = await live.ask<'submit'>(submission(user_id, { market_id, ...more }));
    expect([status, body]).toMatchObject([200, { status: 'queued' }]);
    return body.order_id;
  }

  async function ordersIn(market: string): Promise<readonly unknown[]> {
    const { body } = await practice.call('GET', `/markets/venue_b/${market}`);
    return (body as { readonly orders: readonly unknown[] }).orders;
  }

  const orderOf = async (user_id: string, order_id: string): Promise<unknown> =>
    (await live.ask<'order'>({ op: 'order', user_id, request_id: 'r', order_id })).body;

  const becomes = (user_id: string, order_id: string, record: object, millis = 5_000): Promise<void> =>
    eventually(async () => expect(await orderOf(user_id, order_id)).toMatchObject(record), millis);

  async function offer(market: string, price: string, count: string): Promise<BClient> {
    const maker = await practice.account();
    await maker.orders.createOrderV2({
      ...{ ticker: market, side: 'ask', count, price, time_in_force: 'good_till_canceled' },
      self_trade_prevention_type: 'taker_at_cross',
    });
    return maker;
  }

  it('an order reaches the venue, fills in part, is amended, and its rest is cancelled', async () => {
    const [user, market] = [await trader(), await practice.market()];
    const id = await submit(user, market, { price: cents(40), quantity: 10n * ONE });
    await becomes(user, id, { status: 'open' });
    await offer(market, '0.4000', '4.00');
    await becomes(user, id, { status: 'partially_filled', filled_quantity: '4' }, 2_000);
    const amended = await live.ask<'amend'>({
      ...{ op: 'amend', user_id: user, request_id: 'r', order_id: id, price: cents(45) },
    });
    expect(amended.body).toMatchObject({ success: true, price: cents(45) });
    await live.ask<'cancel'>({ op: 'cancel', user_id: user, request_id: 'r', order_id: id });
    await becomes(user, id, { status: 'cancelled', filled_quantity: '4', terminal_reason: 'USER' });
  });

  it('a doubt is resolved: an order at the venue is found, a lost one fails, and none is sent twice', async () => {
    const [user, market] = [await trader(), await practice.market()];
    for (const [fault, record] of [
      ['drop_reply', { status: 'open' }],
      ['drop_request', { status: 'failed', failure: { code: 'EXCHANGE_NOT_PLACED' } }],
    ] as const) {
      await practice.call('POST', '/faults', { exchange_id: 'venue_b', fault, calls: ['submit'] });
      await becomes(user, await submit(user, market), record, 15_000);
    }
    expect(await ordersIn(market)).toHaveLength(1);
  });

  it('reconciliation explains deposits, pairs, payouts and external orders without a difference', async () => {
    const [user, market] = [await trader(), await practice.market()];
    await offer(market, '0.4000', '4.00');
    const yes = await submit(user, market, { price: cents(40), quantity: 4n * ONE });
    await becomes(user, yes, { status: 'filled' });
    const bidder = await practice.account();
    await bidder.orders.createOrderV2({
      ...{ ticker: market, side: 'bid', count: '3.00', price: '0.5000', time_in_force: 'good_till_canceled' },
      self_trade_prevention_type: 'taker_at_cross',
    });
    const no = { outcome: 'No', outcome_index: 1, price: cents(50), bound: cents(50), quantity: 3n * ONE };
    await becomes(user, await submit(user, market, no), { status: 'filled' });
    await eventually(async () => {
      const { body } = await live.ask<'exposure'>({
        op: 'exposure',
        user_id: user,
        request_id: 'r',
        select: {},
      });
      expect(body).toMatchObject({ positions: [{ outcome: 'Yes', net_size: '1' }] });
    });
    await practice.call('POST', `/markets/venue_b/${market}/resolve`, { payouts: ['1', '0'] });
    await eventually(async () => {
      const { body } = await live.ask<'exposure'>({
        op: 'exposure',
        user_id: user,
        request_id: 'r',
        select: {},
      });
      expect(body).toMatchObject({ positions: [] });
    });
    const report = await live.ask<'reconciliation'>({ op: 'reconciliation' });
    expect(report.body).toEqual({ differences: [], doubts: [] });
    expect(faults).toEqual([]);
  });

  it('an executor dies after a send, and the next one resolves the doubt without sending again', async () => {
    const [user, market] = [await trader(), await practice.market()];
    await executor.stop();
    const life = { hasBegun: false };
    const dying = executorNamed('executor-0:second', (request) => {
      if (life.hasBegun) return false;
      life.hasBegun = request.op === 'begin_submission';
      return true;
    });
    dying.start();
    const id = await submit(user, market);
    await eventually(() => expect(life.hasBegun).toBe(true));
    await eventually(async () => expect(await ordersIn(market)).toHaveLength(1));
    const stopped = dying.stop();
    executor = executorNamed('executor-0:third', () => true);
    executor.start();
    await becomes(user, id, { status: 'open', attempts: 1 }, 20_000);
    expect(await ordersIn(market)).toHaveLength(1);
    await stopped;
  });
});
