import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { LiveCell, Operators } from '#libs/testing/cells/live-cell.js';
import { submission, type WantedTerms } from '#libs/testing/cells/orders.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { openSigner } from '#libs/testing/execution/open-signer.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { openPracticeE, type PracticeE } from '#libs/testing/practice-e.js';
import { Executor } from '../../executor/executor.js';
import type { CellLink, CellRequest } from '../../protocol/cell-protocol.js';
import { VAULT_USER } from '../../protocol/signer-protocol.js';
import { fromWire, toWire } from '../../protocol/wire.js';
import { ONE } from '../../rules/micros.js';
import { openVenues } from '../registry.js';

const cents = (price: number): bigint => BigInt(price) * 10_000n;

/** A real cell, executor, signer and practice venue. Only the processes around them are missing. */
describe('the order lane of venue e', () => {
  let database: TestDatabase;
  let live: LiveCell;
  let practice: PracticeE;
  let executor: Executor;
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
    practice = await openPracticeE();
    opened.push(() => practice.close());
    live = await LiveCell.open({ database, clock: new MovableClock(), operators: new Operators() });
    opened.push(() => live.stop());
    const clock = new SystemClock();
    const settings = {
      ...{ VENUES: ['e' as const], VENUE_B_URL: undefined, VENUE_B_WS_URL: undefined },
      ...{ VENUE_B_ACCOUNTS_URL: undefined, VENUE_E_URL: practice.url },
    };
    const link: Pick<CellLink, 'request'> = {
      request: (request: CellRequest) => live.cell.handle(fromWire(toWire(request)) as CellRequest),
    };
    const venues = openVenues(settings, { clock, signer: signer.signer });
    await venues.get('venue_e')?.open(VAULT_USER);
    executor = new Executor({
      ...{ links: [link], venues, signer: signer.signer },
      ...{ clock, name: 'executor-0:test', concurrency: 16, meter: { called: () => undefined } },
      onFault: (what, error) => faults.push([what, String(error)]),
    });
    executor.start();
    opened.push(() => executor.stop());
  });
  afterAll(async () => {
    for (const close of opened.reverse()) await close();
  });

  async function trader(dollars = '100'): Promise<string> {
    const user_id = randomUUID();
    const link = { op: 'link_venue', request_id: 'r', user_id, venue: 'venue_e' } as const;
    expect(await executor.link.handle(link)).toMatchObject({ status: 200 });
    const account = (await signer.signer.accountOf(user_id, 'venue_e'))?.account;
    await practice.call('POST', '/faucet', { exchange_id: 'venue_e', account, amount: dollars });
    return user_id;
  }

  async function submit(user_id: string, outcome: number, more: Partial<WantedTerms> = {}): Promise<string> {
    const { body, status } = await live.ask<'submit'>(
      submission(user_id, {
        ...{ venue: 'venue_e', market_id: String(outcome), outcome: 'YES' },
        token_id: `#${outcome * 10 + (more.outcome_index ?? 0)}`,
        market: { tick_size: 100n, min_size: ONE, closes_at: '2030-01-01T00:00:00.000000000Z' },
        ...more,
      }),
    );
    expect([status, body]).toMatchObject([200, { status: 'queued' }]);
    return body.order_id;
  }

  const orderOf = async (user_id: string, order_id: string): Promise<unknown> =>
    (await live.ask<'order'>({ op: 'order', user_id, request_id: 'r', order_id })).body;

  const becomes = (user_id: string, order_id: string, record: object, millis = 5_000): Promise<void> =>
    eventually(async () => expect(await orderOf(user_id, order_id)).toMatchObject(record), millis);

  /** Another account bids for the other side. */
  async function offer(outcome: number, p: string, s: string): Promise<void> {
    const other = await practice.account();
    const order = { a: 100_000_001 + outcome * 10, b: true, p, s, r: false } as const;
    await other.trader.order({ orders: [{ ...order, t: { limit: { tif: 'Gtc' } } }] });
  }

  const exposure = async (user_id: string): Promise<unknown> =>
    (await live.ask<'exposure'>({ op: 'exposure', user_id, request_id: 'r', select: {} })).body;

  it('an order reaches the venue, its fill is recorded within two seconds, and the rest is cancelled', async () => {
    const [user, outcome] = [await trader(), await practice.market()];
    const id = await submit(user, outcome, { price: cents(40) });
    await becomes(user, id, { status: 'open' });
    await offer(outcome, '0.6', '4');
    await becomes(user, id, { status: 'partially_filled', filled_quantity: '4' }, 2_000);
    await live.ask<'cancel'>({ op: 'cancel', user_id: user, request_id: 'r', order_id: id });
    await becomes(user, id, { status: 'cancelled', filled_quantity: '4', terminal_reason: 'USER' });
    await eventually(async () => {
      expect(await exposure(user)).toMatchObject({ positions: [{ outcome: 'YES', net_size: '4' }] });
    });
  });

  it('orders that do not rest end with the reason', async () => {
    const [user, outcome] = [await trader(), await practice.market()];
    const none = await submit(user, outcome, { time_in_force: 'IOC', price: cents(50) });
    await becomes(user, none, { status: 'cancelled', terminal_reason: 'UNFILLED_REMAINDER' });
    const empty = await submit(user, outcome, { kind: 'market', time_in_force: 'FAK' });
    await becomes(user, empty, { status: 'failed', failure: { code: 'NO_LIQUIDITY' } });
    const poor = await submit(user, outcome, { quantity: 1_000n * ONE });
    await becomes(user, poor, { status: 'failed', failure: { code: 'INSUFFICIENT_BALANCE' } });
    await offer(outcome, '0.5', '3');
    const part = await submit(user, outcome, { time_in_force: 'FOK', price: cents(50), quantity: 5n * ONE });
    await becomes(user, part, { status: 'cancelled', filled_quantity: '3' });
  });

  it('a doubt is resolved: an order at the venue is found, a lost one fails, and none is sent twice', async () => {
    const [user, outcome] = [await trader(), await practice.market()];
    for (const [fault, record] of [
      ['drop_reply', { status: 'open' }],
      ['drop_request', { status: 'failed', failure: { code: 'EXCHANGE_NOT_PLACED' } }],
    ] as const) {
      await practice.call('POST', '/faults', { exchange_id: 'venue_e', fault, calls: ['submit'] });
      await becomes(user, await submit(user, outcome), record, 15_000);
    }
    const body = await practice.call('GET', `/markets/venue_e/${outcome}`);
    expect((body as { orders: unknown[] }).orders).toHaveLength(1);
  });

  it('money moves to the vault, and reconciliation finds no difference', async () => {
    const [user, outcome] = [await trader(), await practice.market()];
    await offer(outcome, '0.6', '4');
    const bought = await submit(user, outcome, { price: cents(40), quantity: 4n * ONE });
    await becomes(user, bought, { status: 'filled' });
    await eventually(async () => {
      const { status } = await live.ask<'transfer'>({
        ...{ op: 'transfer', user_id: user, request_id: 'r', venue: 'venue_e', asset: 'USDC' },
        ...{ amount: 10n * ONE, direction: 'to_vault', client_request_id: randomUUID() },
      });
      expect(status).toBe(200);
    });
    const vault = (await signer.signer.accountOf(VAULT_USER, 'venue_e'))?.account as `0x${string}`;
    await eventually(async () => {
      const { balances } = await practice.info.spotClearinghouseState({ user: vault });
      expect(balances[0]).toMatchObject({ coin: 'USDC', total: '10.0' });
    });
    await practice.call('POST', `/markets/venue_e/${outcome}/resolve`, { payouts: ['1', '0'] });
    await eventually(async () => {
      expect(await exposure(user)).toMatchObject({ positions: [] });
    });
    const report = await live.ask<'reconciliation'>({ op: 'reconciliation' });
    expect(report.body).toEqual({ differences: [], doubts: [] });
    expect(faults).toEqual([]);
  });
});
