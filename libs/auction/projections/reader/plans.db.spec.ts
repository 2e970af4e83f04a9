import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { projectionMigrations } from '../migrations/list.js';
import { uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { BY_KEY, OF_CREATES, OF_SHARD } from './answer-reader.js';
import { COMPLETED, LIST, RECORDS } from '../audit/audit-reader.js';
import { ONE, PAGE, ROLE } from './auction-reader.js';
import { BEFORE_ALL } from '../tables/answers.js';
import { ENDED, PARTS, TOUCHED } from './history-store.js';
import { HISTORY } from './timeline-reader.js';
import { ALL, OF_STATUS, OWNS } from './quote-reader.js';

jest.setTimeout(60_000);

const AUCTIONS = 5_000;
const A = uuidNamed('auction');
const V = uuidNamed('viewer');

let database: TestDatabase;

/** Sizes as after long use: few accounts, many auctions, and every fifth event with a command's key. */
beforeAll(async () => {
  database = await createTestDatabase(projectionMigrations);
  const { pool } = database;
  const id = (text: string): string => `md5(${text})::uuid`;
  await pool.query(
    `insert into completed.auctions select ${id(`'a' || n`)}, n, n, n, 5, 0, 'SETTLED', repeat('x', 200)
     from generate_series(1, ${AUCTIONS}) n`,
  );
  await pool.query(
    `insert into completed.viewers select ${id(`'v' || (n + m) % 50`)}, ${id(`'a' || n`)}, n, n, m = 0, n % 3, n * 5 + 4
     from generate_series(1, ${AUCTIONS}) n, generate_series(0, 4) m`,
  );
  await pool.query(
    `insert into auction_history.events select ${id(`'a' || n`)}, n * 5 + m, n, 0, 1, 'X', case m when 0 then 'k' end,
       decode(repeat('00', 32), 'hex'), repeat('x', 100) from generate_series(1, ${AUCTIONS}) n, generate_series(0, 4) m`,
  );
  await pool.query(
    `insert into auction_history.quotes select ${id(`'q' || n`)}, ${id(`'a' || n`)}, ${id(`'v' || n % 50`)}, n,
       (array['SETTLED', 'ACTIVE', 'WITHDRAWN'])[n % 3 + 1], repeat('x', 100) from generate_series(1, ${AUCTIONS}) n`,
  );
  await pool.query(
    `insert into auction_history.answers select ${id(`'v' || n % 50`)}, n, n, n % 3, 422, 'CREATE', 'k' || n, 'c', 'b'
     from generate_series(1, ${AUCTIONS}) n`,
  );
  await pool.query('analyze');
});
afterAll(() => database.drop());

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Loops'?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodes)];
}

/** The nodes of the generic plan, which prepared statements come to use. */
async function planOf(text: string, values: readonly unknown[], analyze = false): Promise<PlanNode[]> {
  const client = await database.pool.connect();
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(`prepare asked as ${text}`);
    const literals = values.map((value) =>
      typeof value === 'number' ? String(value) : `'${String(value)}'`,
    );
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze ${String(analyze)}, format json) execute asked (${literals.join(', ')})`,
    );
    return nodes(rows[0]!['QUERY PLAN'][0].Plan);
  } finally {
    await client.query('deallocate all; reset plan_cache_mode');
    client.release();
  }
}

describe('every query of the projections', () => {
  it.each([
    ['an auction', ONE, [A, V], ['auctions_pkey', 'viewers_viewer_id_auction_id_idx']],
    ['a role', ROLE, [A, V], ['viewers_viewer_id_auction_id_idx']],
    ['a page of auctions', PAGE, [V, BEFORE_ALL.at, BEFORE_ALL.id, 51], ['auctions_pkey', 'viewers_pkey']],
    [
      'auctions that ended after a position',
      ENDED,
      [V, 1, 0, 0, 1_000_000],
      ['events_pkey', 'viewers_viewer_id_shard_sequence_idx'],
    ],
    ['later events in some auctions', TOUCHED, [`{${A}}`, 0, 1_000_000], ['events_pkey']],
    ['parts of histories', PARTS, [`{${A}}`, 0, 1_000_000], ['events_pkey']],
    ['a page for auditors', LIST, [BEFORE_ALL.at, BEFORE_ALL.id], ['auctions_opened_at_auction_id_idx']],
    ['an auction for auditors', COMPLETED, [A], ['auctions_pkey']],
    ['records for auditors', RECORDS, [A], ['events_pkey']],
    ['a history', HISTORY, [A, 1_000_000], ['events_pkey']],
    ['a command by its key', BY_KEY, [A, 'k'], ['events_auction_id_command_key_idx']],
    [
      'creates',
      OF_CREATES,
      [`{${A}}`, `{${V}}`, '{k}'],
      ['answers_pkey', 'events_auction_id_command_key_idx'],
    ],
    ["a shard's reply", OF_SHARD, [V, 'WITHDRAW_ALL', 'k', 1], ['answers_pkey']],
    [
      'a page of quotes',
      ALL,
      [V, BEFORE_ALL.at, BEFORE_ALL.id, 51],
      ['quotes_account_id_submitted_at_quote_id_idx'],
    ],
    [
      'a page of quotes of one status',
      OF_STATUS,
      [V, BEFORE_ALL.at, BEFORE_ALL.id, 51, 'ACTIVE'],
      ['quotes_account_id_status_submitted_at_quote_id_idx'],
    ],
    ['the owner of a quote', OWNS, [uuidNamed('q'), A, V], ['quotes_pkey']],
  ])('for %s uses its indexes', async (about, text, values, indexes) => {
    const plan = await planOf(text, values);
    const types = plan.map((node) => node['Node Type']);
    expect(types.filter((type) => /Seq Scan|Hash/.test(type))).toEqual([]);
    // A page must not cost more if more rows follow it: its rows come out of the index in order.
    if (about.startsWith('a page')) expect(types.filter((type) => /Sort|Bitmap/.test(type))).toEqual([]);
    expect(plan.flatMap((node) => node['Index Name'] ?? []).sort()).toEqual(indexes);
  });
});

describe('an auction of others', () => {
  const named = (name: string): string => createHash('md5').update(name).digest('hex');
  const touchedBy = async (text: string, auctionId: string, viewerId: string): Promise<unknown[]> => {
    const plan = await planOf(text, [auctionId, viewerId], true);
    return plan.flatMap((node) => (node['Actual Loops'] === 0 ? [] : (node['Index Name'] ?? [])));
  };

  it.each([
    ['for the auction', ONE],
    ['for the role', ROLE],
  ])('is not touched by a query %s, like an unknown one', async (_, text) => {
    for (const auctionId of [named('a10'), named('never')]) {
      expect(await touchedBy(text, auctionId, named('v1'))).toEqual(['viewers_viewer_id_auction_id_idx']);
    }
    expect(await touchedBy(text, named('a10'), named('v12'))).toContain('viewers_viewer_id_auction_id_idx');
    expect(await touchedBy(ONE, named('a10'), named('v12'))).toContain('auctions_pkey');
  });
});
