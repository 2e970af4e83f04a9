import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { momentOf, orderUuid } from '#libs/testing/execution/cell-journal.js';
import { executionMigrations } from '../../migrations/list.js';
import { HOLDINGS_OF_USER, LIVE_ORDERS } from './central-exposure.js';
import { EVENTS_OF_ORDER, EVENTS_OF_USER, EVENTS_UP_TO } from './event-reader.js';
import { FILLS_OF_ORDER, fillListStatement } from './fill-reader.js';
import { BALANCES, ENTRIES, ENTRIES_OF_ASSET, ENTRIES_OF_DOMAIN } from './ledger-reader.js';
import { ORDER_OF_USER, orderListStatement, PLACE_OF_ORDER, type OrderListQuery } from './order-reader.js';

jest.setTimeout(120_000);

const ORDERS = 20_000;
const O = orderUuid('order');
const U = orderUuid('user');
const PAGE = { limit: 50, offset: 0 };
let database: TestDatabase;

/** A few users with very many orders, fills and entries. */
beforeAll(async () => {
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations, ...executionMigrations]);
  const { pool } = database;
  const id = (text: string): string => `md5(${text})::uuid`;
  await pool.query(
    `insert into execution.orders
     select ${id(`'o' || n`)}, ${id(`'u' || n % 20`)}, n * 1000000::bigint, n * 1000000::bigint, n % 2,
       (array['filled', 'filled', 'filled', 'cancelled', 'open', 'queued'])[n % 6 + 1], 'venue_' || (array['b', 'e'])[n % 2 + 1],
       'm' || n % 50, case when n % 2 = 1 then '#' || n % 100 end, (array['buy', 'sell'])[n % 2 + 1], 'c' || n,
       case when n % 5 = 0 then 'bot-' || n % 3 end, (array['api', 'bot', 'manual'])[n % 3 + 1],
       case when n % 40 = 0 then 'external' else 'sotto' end, repeat('x', 400), 'null'
     from generate_series(1, ${ORDERS}) n`,
  );
  await pool.query(
    `insert into execution.events select n % 2, n, ${id(`'u' || n % 20`)}, ${id(`'o' || n / 5`)}, n % 5 + 1, repeat('x', 100)
     from generate_series(1, ${ORDERS * 2}) n`,
  );
  await pool.query(
    `insert into execution.fills select ${id(`'f' || n`)}, ${id(`'u' || n % 20`)}, ${id(`'o' || n`)}, n, 0, n % 2,
       'venue_' || (array['b', 'e'])[n % 2 + 1], 'm' || n % 50, repeat('x', 100) from generate_series(1, ${ORDERS}) n`,
  );
  await pool.query(
    `insert into execution.holdings select ${id(`'u' || n % 2000`)}, 'position', 'k' || n, n % 2, repeat('x', 100)
     from generate_series(1, ${ORDERS}) n`,
  );
  await pool.query(
    `insert into custody.transactions (kind, cause_id, recorded_at) select 'HOLD', 'x' || n, now() from generate_series(1, ${ORDERS}) n`,
  );
  await pool.query(
    `alter table custody.entries disable trigger user;
     insert into custody.entries select n, 'u' || n % 20, 'chain', 'venue_e', '#' || n % 100, 'held', 5 from generate_series(1, ${ORDERS}) n;
     insert into custody.balances select 'u' || n % 1000, 'chain', 'venue_e', '#' || n, 'held', 5 from generate_series(1, ${ORDERS}) n`,
  );
  await pool.query('analyze');
});
afterAll(() => database.drop());

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

function nodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodes)];
}

/** The generic plan, which serves all parameters. */
async function planOf(text: string, values: readonly unknown[]): Promise<PlanNode[]> {
  const client = await database.pool.connect();
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(`prepare asked as ${text}`);
    const literals = values.map((value) =>
      Array.isArray(value)
        ? `'{${value.map((item) => `"${String(item)}"`).join(',')}}'`
        : `'${String(value)}'`,
    );
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (format json) execute asked (${literals.join(', ')})`,
    );
    return nodes(rows[0]!['QUERY PLAN'][0].Plan);
  } finally {
    await client.query('deallocate all; reset plan_cache_mode');
    client.release();
  }
}

const BEFORE = { submitted_at: '10000000000', order_id: O };
const LISTS: readonly OrderListQuery[] = [
  PAGE,
  { ...PAGE, exchange_id: 'venue_b' },
  { ...PAGE, market_id: 'm1' },
  { ...PAGE, token_id: '#1' },
  { ...PAGE, statuses: ['open'] },
  { ...PAGE, statuses: ['queued', 'submitting', 'open'], market_id: 'm1' },
  { ...PAGE, client_order_id: 'c7' },
  { ...PAGE, bot_id: 'bot-1' },
  { ...PAGE, source: 'bot' },
  { ...PAGE, origin: 'external' },
  { ...PAGE, side: 'sell' },
  { ...PAGE, submitted_after: momentOf(1), submitted_before: momentOf(9) },
  { ...PAGE, updated_after: momentOf(1) },
];

/** A page must come from an index in order, however many rows there are. */
it.each(LISTS.flatMap((query) => [[query, undefined] as const, [query, BEFORE] as const]))(
  'a page of orders is found by index: %j after %j',
  async (query, before) => {
    const { text, values } = orderListStatement(U, query, before);
    const plan = await planOf(text, values);
    expect(plan.filter((node) => node['Node Type'].includes('Seq Scan'))).toEqual([]);
  },
);

const MARK = { position: 5, leg: 0 };

it.each([
  ['the position of an order', PLACE_OF_ORDER, [O, U]],
  ['an order', ORDER_OF_USER, [O, U]],
  ['live orders', LIVE_ORDERS, [U, ['open', 'queued']]],
  ['holdings', HOLDINGS_OF_USER, [U]],
  ['fills', ...statementOf(fillListStatement(U, { limit: 50 }, MARK))],
  ['fills of an order', ...statementOf(fillListStatement(U, { limit: 50, order_id: O }, MARK))],
  ['fills at a venue', ...statementOf(fillListStatement(U, { limit: 50, exchange_id: 'venue_b' }, MARK))],
  ['fills in a market', ...statementOf(fillListStatement(U, { limit: 50, market_id: 'm1' }, MARK))],
  ['all fills of an order', FILLS_OF_ORDER, [O, U]],
  ['a timeline', EVENTS_OF_ORDER, [O, U]],
  ['events of an order', EVENTS_UP_TO, [O, 1, 900]],
  ['events of a user', EVENTS_OF_USER, [U, 1, 5, 900, 50]],
  ['entries', ENTRIES, ['u1', '5', 50]],
  ['entries of a domain', ENTRIES_OF_DOMAIN, ['u1', '5', 50, 'chain']],
  ['entries of an asset', ENTRIES_OF_ASSET, ['u1', '5', 50, ['#1', ''], ['venue_e'], ['chain']]],
  ['balances', BALANCES, ['u1']],
] as const)('%s are found by index', async (_, text, values) => {
  const plan = await planOf(text, values);
  const scanned = plan
    .filter((node) => node['Node Type'].includes('Seq Scan'))
    .map((node) => node['Relation Name']);
  // These join only the rows already found. They are small tables of the auctions, empty here.
  expect(scanned.filter((table) => table !== 'settlements' && table !== 'openings')).toEqual([]);
});

function statementOf({
  text,
  values,
}: {
  text: string;
  values: unknown[];
}): readonly [string, readonly unknown[]] {
  return [text, values];
}
