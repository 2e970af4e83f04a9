import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { qualified, tablesOf } from '#libs/projecting/projection.js';
import { compareProjection } from '#libs/projecting/rebuild/compare.js';
import { Rebuild } from '#libs/projecting/rebuild/rebuild.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { RandomCell } from '#libs/testing/execution/cell-journal.js';
import { executionMigrations } from '../migrations/list.js';
import { emptyHoldings, evolveHoldings } from '../rules/holdings.js';
import { executionProjection, type KeptOfCell } from './projection.js';
import { CentralExposure } from './reader/central-exposure.js';

jest.setTimeout(60_000);

const TABLES = tablesOf(executionProjection);
const clock = new SystemClock();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(executionMigrations);
});
afterAll(() => database.drop());
beforeEach(empty);

async function empty(): Promise<void> {
  await database.pool.query(`truncate ${TABLES.map((table) => qualified(table)).join(', ')}`);
}

async function rows(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of TABLES) {
    const name = qualified(table);
    const { rows } = await database.pool.query<{ row: string }>(
      `select t::text as row from ${name} t order by ${table.key.join(', ')}`,
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

function projector(): Projector<KeptOfCell> {
  return new Projector(executionProjection, { inTransaction: transactionsOf(database.pool), clock });
}

/** Cuts the records into batches of uneven sizes. */
function cut(records: readonly JournalEntry[], sizes: readonly number[]): JournalEntry[][] {
  const batches: JournalEntry[][] = [];
  let at = 0;
  for (let turn = 0; at < records.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    batches.push(records.slice(at, at + size));
    at += size;
  }
  return batches;
}

describe('the projection of a cell', () => {
  it.each([1, 2, 3])('does not depend on batch sizes or on remembered state (seed %i)', async (seed) => {
    const { records } = new RandomCell(seed, 400).journal;
    await projector().take(0, records);
    const whole = await rows();
    expect(whole['execution.orders']!.length).toBeGreaterThan(50);
    expect(whole['execution.fills']!.length).toBeGreaterThan(30);
    expect(whole['execution.holdings']!.length).toBeGreaterThan(10);
    for (const sizes of [[1], [3, 1, 17, 2], [90]]) {
      await empty();
      const remembering = projector();
      for (const batch of cut(records, sizes)) await remembering.take(0, batch);
      expect(await rows()).toEqual(whole);
      await empty();
      for (const batch of cut(records, sizes)) await projector().take(0, batch);
      expect(await rows()).toEqual(whole);
    }
  });

  it('is unchanged if every event is delivered twice', async () => {
    const { records } = new RandomCell(4, 300).journal;
    const one = projector();
    for (const batch of cut(records, [25, 2, 41])) {
      await one.take(0, batch);
      const once = await rows();
      await one.take(0, batch);
      await projector().take(0, records.slice(0, batch.at(-1)!.sequence));
      expect(await rows()).toEqual(once);
    }
  });

  it('is compared with the journal, and rebuilt from it', async () => {
    const { journal } = new RandomCell(5, 300);
    const ports = { pool: database.pool, reader: journal, clock };
    await projector().take(0, journal.records);
    const sound = await rows();
    const differing = async (): Promise<number[]> =>
      (await compareProjection(executionProjection, ports)).map((table) => table.differing);
    expect(await differing()).toEqual([0, 0, 0, 0, 0]);
    await database.pool.query(`update execution.orders set status = 'open' where status = 'filled'`);
    await database.pool.query(
      `delete from execution.fills where position = (select min(position) from execution.fills)`,
    );
    expect((await differing()).filter((count) => count > 0)).toHaveLength(2);
    await new Rebuild(executionProjection, { ...ports, say: () => undefined }).run();
    expect(await rows()).toEqual(sound);
  });
});

it('a fill that the venue reports twice is one row and changes holdings once', async () => {
  const { journal, users, states } = new RandomCell(6, 600);
  await projector().take(0, journal.records);
  const reported = journal.events.flatMap((event) =>
    event.type === 'ORDER_FILLED' ? [event.fill.fill_id] : [],
  );
  const once = new Set(reported);
  expect(reported.length).toBeGreaterThan(once.size);
  const { rows: stored } = await database.pool.query<{ fills: number }>(
    'select count(*) as fills from execution.fills where order_id is not null',
  );
  expect(stored).toEqual([{ fills: once.size }]);
  const orders = new Map(states.map((order) => [order.terms.order_id, order]));
  for (const user of users) {
    const seen = new Set<string>();
    const expected = journal.events
      .filter((event) => event.user_id === user)
      .filter((event) => event.type !== 'ORDER_FILLED' || seen.size < seen.add(event.fill.fill_id).size)
      .reduce((held, event) => evolveHoldings(held, event, (id) => orders.get(id)), emptyHoldings);
    const { holdings } = await new CentralExposure(database.pool).of(user);
    expect(holdings.cash).toEqual(expected.cash);
    expect(holdings.positions).toEqual(expected.positions);
  }
});

it('a paid pair is two sells at half a dollar without an order', async () => {
  const { journal } = new RandomCell(7, 800);
  await projector().take(0, journal.records);
  const pairs = journal.events.filter(({ type }) => type === 'PAIRS_PAID');
  expect(pairs.length).toBeGreaterThan(0);
  const { rows: legs } = await database.pool.query<{ record: string }>(
    'select record from execution.fills where order_id is null order by position, leg',
  );
  expect(legs).toHaveLength(2 * pairs.length);
  const [first, second] = legs.map(({ record }) => JSON.parse(record) as Record<string, unknown>);
  expect(first).toMatchObject({
    outcome: 'Yes',
    side: 'sell',
    price: '0.5',
    synthetic: true,
    order_id: null,
  });
  expect(second).toMatchObject({
    outcome: 'No',
    side: 'sell',
    price: '0.5',
    synthetic: true,
    order_id: null,
  });
});
