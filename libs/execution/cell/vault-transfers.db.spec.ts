import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { CellSession, REQUEST } from '#libs/testing/cells/cell-session.js';
import { ONE } from '../rules/micros.js';

jest.setTimeout(30_000);

let session: CellSession;

beforeEach(async () => {
  session = await CellSession.open();
  const { pool } = session.world.database;
  await pool.query(
    `with posted as (insert into custody.transactions (kind, recorded_at) values ('OPENING', now()) returning transaction_id)
     insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount)
     select transaction_id, account, 'vault', 'venue_b', '', 'available', amount
     from posted, unnest($1::text[], $2::bigint[]) as e (account, amount)`,
    [
      [session.user_id, 'system:opening'],
      [100_000_000, -100_000_000],
    ],
  );
  await pool.query(`select custody.state_evidence($1, 'venue_b', '')`, [session.user_id]);
  await pool.query('update risk.reserved set shard_2 = 40000000');
});
afterEach(() => session.close());

const MOVE = {
  op: 'transfer',
  venue: 'venue_b',
  direction: 'from_vault',
  request_id: REQUEST,
  asset: 'USD',
} as const;

async function statuses(): Promise<unknown> {
  const { rows } = await session.world.database.pool.query<object>(
    'select status, amount from custody.transfers order by recorded_at',
  );
  return rows;
}

it('a transfer from the vault is held first, and cannot take money that auctions have reserved', async () => {
  const move = { ...MOVE, user_id: session.user_id };
  const much = await session.live.ask<'transfer'>({ ...move, amount: 61n * ONE, client_request_id: 'much' });
  expect(much).toMatchObject({ status: 409, code: 'INSUFFICIENT_BALANCE' });
  const held = { ...move, amount: 60n * ONE, client_request_id: 'all' };
  const first = await session.live.ask<'transfer'>(held);
  expect(first.body.transfer).toMatchObject({ status: 'PENDING' });
  const again = await session.live.ask<'transfer'>(held);
  expect(again.body.transfer.terms.transfer_id).toBe(first.body.transfer.terms.transfer_id);
  expect(await statuses()).toEqual([{ status: 'HELD', amount: 60_000_000 }]);
  const more = await session.live.ask<'transfer'>({ ...move, amount: ONE, client_request_id: 'more' });
  expect(more.code).toBe('INSUFFICIENT_BALANCE');
});

it('repeats at the same time get the one transfer, though the vault has the amount only once', async () => {
  const move = { ...MOVE, user_id: session.user_id, amount: 60n * ONE, client_request_id: 'once' };
  const replies = await Promise.all([1, 2, 3].map(() => session.live.ask<'transfer'>(move)));
  const ids = new Set(replies.map(({ body }) => body.transfer.terms.transfer_id));
  expect([replies.map(({ status }) => status), ids.size]).toEqual([[200, 200, 200], 1]);
  expect(await statuses()).toEqual([{ status: 'HELD', amount: 60_000_000 }]);
});

it('the hold of a transfer that the cell refuses is released in the vault', async () => {
  const stranger = randomUUID();
  for (const table of ['custody.balances', 'risk.evidence', 'risk.reserved']) {
    const mine = `account_id = '${session.user_id}'`;
    await session.world.database.pool.query(`update ${table} set account_id = $1 where ${mine}`, [stranger]);
  }
  const refused = await session.live.ask<'transfer'>({
    ...MOVE,
    ...{ user_id: stranger, amount: ONE, client_request_id: 'e' },
  });
  expect(refused.code).toBe('EXCHANGE_NOT_LINKED');
  expect(await statuses()).toEqual([{ status: 'FAILED', amount: 1_000_000 }]);
});

it('a hold in the vault whose transfer is in no journal is released when the cell starts', async () => {
  const { user_id, world } = session;
  const kept = { ...MOVE, user_id, amount: 20n * ONE, client_request_id: 'kept' };
  expect((await session.live.ask<'transfer'>(kept)).status).toBe(200);
  const lost = 'select custody.hold_transfer($1, $2, $3, $4, 40000000)';
  await world.database.pool.query(lost, [randomUUID(), user_id, 'venue_b', '']);
  await session.restart();
  expect(await statuses()).toEqual([
    { status: 'HELD', amount: 20_000_000 },
    { status: 'FAILED', amount: 40_000_000 },
  ]);
  const all = { ...kept, amount: 40n * ONE, client_request_id: 'rest' };
  expect((await session.live.ask<'transfer'>(all)).status).toBe(200);
});
