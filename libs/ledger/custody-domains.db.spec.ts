import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { lockAllOn, lockBalances } from './ledger.js';
import { custodyMigrations } from './migrations/list.js';
import { enterOpening } from './openings.js';
import { UNSPOKEN } from './stated-amount.js';

type Line = readonly [
  owner: string,
  domain: string,
  venue: string,
  asset: string,
  kind: string,
  amount: number,
];

const MOMENT = { now: '2026-11-20T12:00:00.000000000Z', evidenceTtlMillis: 60_000 };
const EMPTY = `
  alter table custody.entries disable trigger user; delete from custody.entries; alter table custody.entries enable trigger user;
  delete from custody.balances; delete from risk.evidence`;
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations]);
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query(EMPTY));

async function post(...lines: readonly Line[]): Promise<void> {
  await database.pool.query(
    `with posted as (insert into custody.transactions (kind, recorded_at) values ('OPENING', now()) returning transaction_id)
     insert into custody.entries select transaction_id, account_id, domain, venue, asset, kind, amount
     from posted, jsonb_to_recordset($1) as line (account_id text, domain text, venue text, asset text, kind text, amount bigint)`,
    [
      JSON.stringify(
        lines.map(([account_id, domain, venue, asset, kind, amount]) => {
          return { account_id, domain, venue, asset, kind, amount };
        }),
      ),
    ],
  );
}

async function balancesOf(owner: string): Promise<Record<string, number>> {
  const { rows } = await database.pool.query<{ name: string; amount: number }>(
    `select concat_ws(' ', domain, kind) as name, amount from custody.balances where account_id = $1 and amount <> 0`,
    [owner],
  );
  return Object.fromEntries(rows.map(({ name, amount }) => [name, amount]));
}

describe('a transaction of the ledger', () => {
  it('balances in each domain by itself', async () => {
    const across = post(
      ['ada', 'chain', '', '', 'available', 5],
      ['system:opening', 'vault', '', '', 'available', -5],
    );
    await expect(across).rejects.toThrow('entries do not balance');
    await post(
      ['system:opening', 'vault', 'a', '', 'available', -7],
      ['ada', 'vault', 'a', '', 'available', 7],
      ['system:bridge', 'chain', '', '', 'external', -7],
      ['ada', 'chain', '', '', 'available', 7],
    );
    expect(await balancesOf('ada')).toEqual({ 'vault available': 7, 'chain available': 7 });
  });

  it('balances for each asset, and at each venue of a domain', async () => {
    for (const [venue, asset] of [
      ['a', 'rain/YES'],
      ['b', ''],
    ] as const) {
      const across = post(
        ['system:opening', 'vault', 'a', '', 'available', -5],
        ['ada', 'vault', venue, asset, 'available', 5],
      );
      await expect(across).rejects.toThrow('entries do not balance');
    }
  });

  it('moves amounts between the kinds of one account, each with its own balance', async () => {
    await post(
      ['system:venue', 'kalshi_usd', 'b', '', 'external', -9],
      ['ada', 'kalshi_usd', 'b', '', 'available', 9],
    );
    await post(['ada', 'kalshi_usd', 'b', '', 'available', -4], ['ada', 'kalshi_usd', 'b', '', 'held', 4]);
    expect(await balancesOf('ada')).toEqual({ 'kalshi_usd available': 5, 'kalshi_usd held': 4 });
    const released = post(
      ['ada', 'kalshi_usd', 'b', '', 'held', -5],
      ['ada', 'kalshi_usd', 'b', '', 'available', 5],
    );
    await expect(released).rejects.toThrow('only_issuers_owe');
  });

  it('accepts no other domains and kinds', async () => {
    const elsewhere = post(
      ['ada', 'pocket', '', '', 'available', 1],
      ['ben', 'pocket', '', '', 'available', -1],
    );
    await expect(elsewhere).rejects.toThrow('entries_domain_check');
    const otherwise = post(['ada', 'chain', '', '', 'lost', 1], ['ben', 'chain', '', '', 'lost', -1]);
    await expect(otherwise).rejects.toThrow('entries_kind_check');
  });
});

it('auctions see only the vault', async () => {
  const key = { account: 'ada', venue: 'a', asset: '' };
  await post(
    ['system:venue', 'chain', 'a', '', 'external', -100],
    ['ada', 'chain', 'a', '', 'available', 100],
  );
  await withTransaction(database.pool, 'read committed', async (client) => {
    await lockAllOn(client, [key]);
    expect(await lockBalances(client, [key])).toEqual([]);
  });
  expect((await database.pool.query(UNSPOKEN)).rows).toEqual([]);
  await withTransaction(database.pool, 'read committed', (client) =>
    enterOpening(client, { ...key, reference: 'wire-1', amount: 3 }, MOMENT),
  );
  const { rows } = await database.pool.query('select resource, amount from risk.evidence');
  expect(rows).toEqual([{ resource: 'COLLATERAL', amount: 3 }]);
});
