import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { nanosFromInstant, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { dice, momentOf, orderUuid, RandomCell } from '#libs/testing/execution/cell-journal.js';
import { executionMigrations } from '../../migrations/list.js';
import { isTerminal, type OrderState, type OrderStatus } from '../../rules/order.js';
import { orderRecord } from '../../rules/record.js';
import { executionBooker } from '../booking/booker.js';
import { executionProjection } from '../projection.js';
import { CentralExposure } from './central-exposure.js';
import { EventReader } from './event-reader.js';
import { FillReader } from './fill-reader.js';
import { LedgerReader } from './ledger-reader.js';
import { OrderReader, type OrderListQuery } from './order-reader.js';

jest.setTimeout(60_000);

const clock = new SystemClock();
const cell = new RandomCell(21, 700);
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations, ...executionMigrations]);
  const inTransaction = transactionsOf(database.pool);
  await new Projector(executionProjection, { inTransaction, clock }).take(0, cell.journal.records);
  await new Projector(executionBooker, { inTransaction, clock }).take(0, cell.journal.records);
});
afterAll(() => database.drop());

function millisOf(instant: Instant): bigint {
  return nanosFromInstant(instant) / NANOS_PER_MILLI;
}

/** The reference model: slow and obvious. */
function ordersOf(user: string, query: OrderListQuery): OrderState[] {
  const wanted = cell.states.filter((order) => {
    const { terms, status, accepted_at, updated_at } = order;
    const submitted = millisOf(accepted_at);
    return (
      terms.user_id === user &&
      (query.exchange_id ?? terms.venue) === terms.venue &&
      (query.market_id ?? terms.market_id) === terms.market_id &&
      (query.token_id === undefined || query.token_id === terms.token_id) &&
      (query.statuses?.includes(status) ?? true) &&
      (query.side ?? terms.side) === terms.side &&
      (query.client_order_id === undefined || query.client_order_id === terms.client_order_id) &&
      (query.bot_id === undefined || query.bot_id === terms.bot_id) &&
      (query.source ?? terms.source) === terms.source &&
      (query.origin ?? terms.origin) === terms.origin &&
      (query.submitted_after === undefined ||
        submitted * NANOS_PER_MILLI > nanosFromInstant(query.submitted_after)) &&
      (query.submitted_before === undefined ||
        submitted * NANOS_PER_MILLI < nanosFromInstant(query.submitted_before)) &&
      (query.updated_after === undefined || updated_at > query.updated_after)
    );
  });
  const place = (order: OrderState): string =>
    `${String(millisOf(order.accepted_at))} ${order.terms.order_id}`;
  return wanted.sort((one, other) => (place(one) > place(other) ? -1 : 1));
}

function idsOf(page: { readonly orders: readonly Record<string, unknown>[] } | string): unknown[] {
  return typeof page === 'string' ? [page] : page.orders.map(({ order_id }) => order_id);
}

describe('the list of orders', () => {
  const reader = (): OrderReader => new OrderReader(database.pool);
  const user = cell.users[0]!;

  it('equals a simple filter of all orders, in the same order', async () => {
    const roll = dice(3);
    const pick = <T>(...from: readonly T[]): T => from[roll(from.length)]!;
    const some = <T extends object>(value: T): T | object => (roll(4) === 0 ? value : {});
    const any = cell.states;
    let found = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      const example = any[roll(any.length)]!.terms;
      const asker = pick(...cell.users);
      const query: OrderListQuery = {
        ...{ limit: 1 + roll(20), offset: roll(3) },
        ...some({ exchange_id: example.venue }),
        ...some({ market_id: example.market_id }),
        ...(example.token_id === undefined ? {} : some({ token_id: example.token_id })),
        ...some({
          statuses: pick<readonly OrderStatus[]>(
            ['open'],
            ['filled', 'failed'],
            ['queued', 'submitting', 'open'],
          ),
        }),
        ...some({ side: example.side }),
        ...(roll(10) === 0 && example.client_order_id !== undefined
          ? { client_order_id: example.client_order_id }
          : {}),
        ...some({ bot_id: example.bot_id }),
        ...some({ source: example.source }),
        ...some({ origin: example.origin }),
        ...some({ submitted_after: momentOf(roll(1_200)) }),
        ...some({ submitted_before: momentOf(roll(1_200)) }),
        ...some({ updated_after: momentOf(roll(1_200)) }),
      };
      const all = ordersOf(asker, query);
      const shown = all.slice(query.offset, query.offset + query.limit);
      const page = await reader().list(asker, query);
      const hasMore = all.length > query.offset + query.limit;
      const last = shown.at(-1)?.terms.order_id;
      expect(page).toEqual({
        orders: shown.map((order) => orderRecord(order, 'row')),
        has_more: hasMore,
        ...(hasMore && last !== undefined ? { next_before_id: last } : {}),
      });
      found += shown.length;
    }
    expect(found).toBeGreaterThan(100);
  });

  it('continues after an order of the caller, and after no other', async () => {
    const all = ordersOf(user, { limit: 1, offset: 0 }).map(({ terms }) => terms.order_id);
    const walked: unknown[] = [];
    let before: { before_id?: string } = {};
    for (;;) {
      const page = await reader().list(user, { limit: 7, offset: 0, ...before });
      if (page === 'no such order') throw new Error(page);
      walked.push(...idsOf(page));
      if (page.next_before_id === undefined) break;
      before = { before_id: page.next_before_id };
    }
    expect(walked).toEqual(all);
    const [others] = ordersOf(cell.users[1]!, { limit: 1, offset: 0 });
    for (const before_id of [others!.terms.order_id, orderUuid('never')]) {
      expect(await reader().list(user, { limit: 7, offset: 0, before_id })).toBe('no such order');
    }
  });

  it('one order is found in full, and only for its user', async () => {
    const order = ordersOf(user, { limit: 1, offset: 0 }).find(({ raw }) => raw !== null)!;
    const found = await reader().find(user, order.terms.order_id);
    expect(orderRecord(found!, 'full')).toEqual(orderRecord(order, 'full'));
    expect(await reader().find(cell.users[1]!, order.terms.order_id)).toBeUndefined();
  });
});

describe('fills and events', () => {
  const user = cell.users[1]!;

  it('fills come page by page, each once, and can be filtered by order', async () => {
    const reader = new FillReader(database.pool);
    const whole = await reader.page(user, { limit: 1_000 });
    if (whole === 'no such fill') throw new Error(whole);
    expect(whole.fills.length).toBeGreaterThan(10);
    const walked: unknown[] = [];
    let after: { after?: string } = {};
    for (;;) {
      const page = await reader.page(user, { limit: 3, ...after });
      if (page === 'no such fill') throw new Error(page);
      walked.push(...page.fills);
      if (page.next_after === undefined) break;
      after = { after: page.next_after };
    }
    expect(walked).toEqual(whole.fills);
    const order = cell.states.find(({ terms, fill_ids }) => terms.user_id === user && fill_ids.length > 1)!;
    const { order_id } = order.terms;
    const fills = await reader.ofOrder(user, order_id);
    expect(fills.map((fill) => (fill as { fill_id: string }).fill_id)).toEqual(order.fill_ids);
    expect(await reader.page(user, { order_id, limit: 9 })).toEqual({ fills });
    expect(await reader.ofOrder(cell.users[0]!, order_id)).toEqual([]);
    expect(await reader.page(user, { limit: 3, after: 'x' })).toBe('no such fill');
  });

  it('a timeline counts its events without a gap', async () => {
    const order = cell.states.find(({ terms, seq }) => terms.user_id === user && seq > 4)!;
    const { order_id } = order.terms;
    const reader = new EventReader(database.pool);
    const first = await reader.timeline(user, order_id, 0, 3);
    expect(first).toMatchObject({
      order_id,
      events: [{ seq: 1, cause: 'ACCEPTED' }, { seq: 2 }, { seq: 3 }],
      next_after_seq: 3,
    });
    const rest = await reader.timeline(user, order_id, 3, 1_000);
    expect((rest?.events as { seq: number }[]).map(({ seq }) => seq)).toEqual(
      Array.from({ length: order.seq - 3 }, (_, index) => index + 4),
    );
    expect(rest).not.toHaveProperty('next_after_seq');
    expect(await reader.timeline(cell.users[0]!, order_id, 0, 3)).toBeUndefined();
  });

  it('a reconnecting client gets the events it missed, and their last position', async () => {
    const reader = new EventReader(database.pool);
    const mine = cell.journal.events.flatMap((event, index) =>
      event.user_id === user ? [{ position: index + 2, event }] : [],
    );
    const received: unknown[] = [];
    let upTo = 0;
    while (upTo < cell.journal.records.length) {
      const page = await reader.after(user, 0, upTo, 50);
      received.push(...page.events);
      expect(page.upTo).toBeGreaterThan(upTo);
      upTo = page.upTo;
    }
    expect(received).toEqual(mine);
    expect(await reader.after(user, 0, upTo + 5, 50)).toEqual({ events: [], upTo: upTo + 5 });
    const { order_id } = cell.states.find(({ terms, seq }) => terms.user_id === user && seq > 4)!.terms;
    const ofOrder = mine.filter(({ event }) => 'order_id' in event && event.order_id === order_id);
    expect(await reader.ofOrder(order_id, 0, ofOrder[2]!.position)).toEqual(ofOrder.slice(0, 3));
    expect(await reader.ofOrder(order_id, 0, upTo + 1)).toBeUndefined();
  });

  it('holdings and live orders can be read without the cell', async () => {
    const { holdings, orders } = await new CentralExposure(database.pool).of(user);
    const live = cell.states.filter((order) => order.terms.user_id === user && !isTerminal(order));
    expect(new Set(orders.map(({ terms }) => terms.order_id))).toEqual(
      new Set(live.map(({ terms }) => terms.order_id)),
    );
    expect(holdings.links.get('venue_b')?.account).toBe(`b-${user}`);
    expect(holdings.positions.size).toBeGreaterThan(0);
  });
});

describe('the ledger of a user', () => {
  const user = cell.users[2]!;

  it('is read page by page, and filtered by asset and domain', async () => {
    const reader = new LedgerReader(database.pool);
    const whole = await reader.entries(user, { limit: 5_000 });
    if (whole === 'no such entry') throw new Error(whole);
    const kinds = new Set(whole.entries.map(({ cause }) => cause.kind));
    for (const kind of ['DEPOSIT', 'FILL', 'FEE', 'HOLD', 'TRANSFER']) expect(kinds).toContain(kind);
    const walked: unknown[] = [];
    let after: { after?: string } = {};
    for (;;) {
      const page = await reader.entries(user, { limit: 13, ...after });
      if (page === 'no such entry') throw new Error(page);
      walked.push(...page.entries);
      if (page.nextAfter === undefined) break;
      after = { after: page.nextAfter };
    }
    expect(walked).toEqual(whole.entries);
    for (const filter of [
      { asset: 'USD' },
      { asset: 'USDC' },
      { domain: 'chain' as const },
      { asset: 'USDC', domain: 'vault' as const },
    ]) {
      expect(await reader.entries(user, { limit: 5_000, ...filter })).toEqual({
        entries: whole.entries.filter(
          ({ asset, domain }) => (filter.asset ?? asset) === asset && (filter.domain ?? domain) === domain,
        ),
      });
    }
    expect(await reader.entries(user, { limit: 1, after: '-1' })).toBe('no such entry');
  });

  it('sums to its balances', async () => {
    const reader = new LedgerReader(database.pool);
    const cash = (await reader.balances(user)).find(({ asset }) => asset === 'USD')!;
    expect(cash).toMatchObject({ custodyDomain: 'kalshi_usd', exchangeId: 'venue_b', isMoney: true });
    const entries = await reader.entries(user, { limit: 5_000, asset: 'USD' });
    if (entries === 'no such entry') throw new Error(entries);
    const sum = entries.entries
      .filter(({ account }) => account === 'available' || account === 'held')
      .reduce((total, { amount }) => total + Number(amount), 0);
    expect(sum).toBeCloseTo(Number(cash.value), 6);
    const reserves = await reader.reserves();
    expect(reserves.map(({ exchangeId }) => exchangeId)).toEqual(['venue_e']);
  });
});
