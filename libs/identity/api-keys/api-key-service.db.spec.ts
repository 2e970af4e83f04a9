import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { NewUser } from '../accounts/enrol-users.js';
import { identityMigrations } from '../migrations/list.js';
import {
  enterTrader,
  headersOf,
  newKey,
  newPeer,
  openKeyGateway,
  verdict,
  type KeyGateway,
} from './api-keys.fixture.js';

let database: TestDatabase;
let gateway: KeyGateway;
let trader: NewUser;

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
  await database.pool.query('create table public.action_log (line text not null)');
});

beforeEach(async () => {
  await database.pool.query('delete from public.action_log');
  trader = await enterTrader(database.pool);
  gateway = await openKeyGateway(database.url, new SystemClock());
});

afterEach(() => gateway.close());
afterAll(() => database.drop());

async function lines(): Promise<string[]> {
  const { rows } = await database.pool.query<{ line: string }>('select line from public.action_log');
  return rows.map(({ line }) => line);
}

describe('an operator', () => {
  it('grants any scopes as written, and the grant is recorded', async () => {
    const issued = await gateway.keys.service.grant(
      trader.accountId,
      { name: 'all', scopes: ['*', 'trade', '*'] },
      async (client, id) => {
        await client.query('insert into public.action_log values ($1)', [id]);
      },
    );
    const { triple, row } = issued!;
    expect(row).toMatchObject({ preset: null, scopes: ['*', 'trade'], name: 'all' });
    expect(await lines()).toEqual([triple.client_id]);
    const outcome = await gateway.ask(headersOf(triple), newPeer());
    expect(outcome).toMatchObject({ ok: true, caller: { scopes: ['*', 'trade'] } });
  });

  it('may grant no scope at all', async () => {
    const terms = { name: 'bare', scopes: [] };
    const issued = await gateway.keys.service.grant(trader.accountId, terms, () => Promise.resolve());
    expect(await gateway.ask(headersOf(issued!.triple), newPeer())).toMatchObject({
      ok: true,
      caller: { scopes: [] },
    });
  });

  it.each([['auction:create'], ['auction:quote'], ['auction:'], ['a b'], ['']])(
    'cannot grant the scope %p, nor can a direct write to the table',
    async (scope) => {
      const terms = { name: 'x', scopes: [scope] };
      await expect(
        gateway.keys.service.grant(trader.accountId, terms, () => Promise.resolve()),
      ).rejects.toThrow(RangeError);
      if (!scope.startsWith('auction:')) return;
      const { triple } = await newKey(gateway, trader);
      await expect(
        database.pool.query('update identity.api_keys set scopes = $2 where client_id = $1', [
          triple.client_id,
          ['read', scope],
        ]),
      ).rejects.toMatchObject({ code: '23514' });
    },
  );

  it('changes nothing if the action cannot be recorded', async () => {
    const failing = (): Promise<void> => Promise.reject(new Error('no room in the log'));
    const { service, access } = gateway.keys;
    await expect(service.grant(trader.accountId, { name: 'x', scopes: ['read'] }, failing)).rejects.toThrow(
      'no room',
    );
    expect(await service.list(trader.accountId)).toEqual([]);
    const { triple } = await newKey(gateway, trader);
    await expect(service.revokeAny(triple.client_id, failing)).rejects.toThrow('no room');
    expect(verdict(await gateway.ask(headersOf(triple), newPeer()))).toBe('ok');
    const off = { provider: 'venue_b', enabled: false, by: trader.accountId, reason: 'x' };
    await expect(access.set(off, failing)).rejects.toThrow('no room');
    expect(access.accessOf('venue_b')).toBe('enabled');
  });

  it('grants no key to an unknown user, and revokes the key of any user once', async () => {
    const { service } = gateway.keys;
    const recordAction = (): Promise<void> =>
      database.pool.query(`insert into public.action_log values ('x')`).then(() => undefined);
    expect(await service.grant(randomUUID(), { name: 'x', scopes: ['read'] }, recordAction)).toBeUndefined();
    const { triple } = await newKey(gateway, trader);
    expect(await service.revokeAny(triple.client_id, recordAction)).toBe(true);
    expect(await service.revokeAny(triple.client_id, recordAction)).toBe(false);
    expect(await service.revokeAny('sotto_ck_unknown', recordAction)).toBe(false);
    expect(await lines()).toEqual(['x']);
    expect(verdict(await gateway.ask(headersOf(triple), newPeer()))).toBe(401);
  });
});

describe('a revoked key', () => {
  it('cannot be restored', async () => {
    const { triple } = await newKey(gateway, trader);
    await gateway.keys.service.revoke(trader.accountId, triple.client_id);
    await expect(
      database.pool.query('update identity.api_keys set revoked_at = null where client_id = $1', [
        triple.client_id,
      ]),
    ).rejects.toMatchObject({ code: '23000' });
  });
});

describe('the time of last use', () => {
  it('is written at most once a minute for each key', async () => {
    const { triple } = await newKey(gateway, trader);
    for (let count = 0; count < 20; count += 1) await gateway.ask(headersOf(triple), newPeer());
    await gateway.keys.stop();
    const used = async (): Promise<unknown> => {
      const sql =
        'select last_used_at, xmin::text as written from identity.api_key_uses where client_id = $1';
      return (await database.pool.query(sql, [triple.client_id])).rows;
    };
    const first = await used();
    expect(first).toEqual([{ last_used_at: expect.any(Date), written: expect.any(String) }]);
    const second = await openKeyGateway(database.url, new SystemClock());
    await second.ask(headersOf(triple), newPeer());
    await second.close();
    expect(await used()).toEqual(first);
  });
});
