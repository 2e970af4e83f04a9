import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg, { type PoolClient } from 'pg';
import { eventually } from '#libs/testing/eventually.js';
import { openProxy } from '#libs/testing/network/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import {
  isConnectionFailure,
  isSerializationFailure,
  isUnanswered,
  KEPT,
  openPool,
  withTransaction,
} from './postgres.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query('create table public.balance (account text primary key, atoms int8 not null)');
  await database.pool.query(`insert into public.balance values ('a', 10), ('b', 10)`);
});

afterAll(() => database.drop());

function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

it('a pool of a stopping process gives up unanswered queries after a while, and sends no more', async () => {
  const stopping = new AbortController();
  const pool = openPool(database.url, { applicationName: 'leaving', max: 2, stopping: stopping.signal });
  const hanging = caught(pool.query('select pg_sleep(8)'));
  await pool.query('select 1');
  stopping.abort();
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  const started = performance.now();
  expect(await hanging).toMatchObject({ message: expect.stringMatching(/^Connection terminated/) });
  expect(performance.now() - started).toBeLessThan(4_000);
  expect(isConnectionFailure(await caught(pool.query('select 1')))).toBe(true);
  await pool.end();
});

describe('int8 columns', () => {
  it('come as numbers up to the largest safe integer', async () => {
    const { rows } = await database.pool.query(
      'select 9007199254740991::int8 as big, count(*) as n from public.balance',
    );
    expect(rows).toEqual([{ big: 9_007_199_254_740_991, n: 2 }]);
  });

  it('fail if they would have to be rounded', async () => {
    await expect(database.pool.query('select 9007199254740993::int8')).rejects.toThrow('does not fit');
    expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });
});

it('a pool makes durable writes, whatever the settings of its login', async () => {
  const login = `in database ${new URL(database.url).pathname.slice(1)}`;
  for (const setting of ['synchronous_commit = off', 'default_transaction_read_only = on']) {
    await database.pool.query(`alter role current_user ${login} set ${setting}`);
  }
  const pool = openPool(database.url, { applicationName: 'told', max: 1 });
  try {
    expect((await pool.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
    expect((await pool.query('update public.balance set atoms = atoms')).rowCount).toBe(2);
  } finally {
    await pool.end();
    await database.pool.query(`alter role current_user ${login} reset all`);
  }
});

describe('withTransaction', () => {
  it('rolls back everything if the function fails', async () => {
    const work = withTransaction(database.pool, 'read committed', async (client) => {
      await client.query(`update public.balance set atoms = 0`);
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect((await database.pool.query('select sum(atoms)::int8 as all from public.balance')).rows).toEqual([
      { all: 20 },
    ]);
  });

  it('fails if the function ignored the failure of a statement', async () => {
    const work = withTransaction(database.pool, 'read committed', async (client) => {
      await client.query(`insert into public.balance values ('c', 1)`);
      await caught(client.query('select 1/0'));
    });
    await expect(work).rejects.toThrow('rolled back');
    expect((await database.pool.query(`select from public.balance where account = 'c'`)).rowCount).toBe(0);
  });

  it('closes a connection that does not reply, without another query', async () => {
    const pool = openPool(database.url, {
      applicationName: 'impatient',
      max: 1,
      statementTimeoutMs: 10_000,
      answerTimeoutMs: 700,
    });
    const started = performance.now();
    await expect(
      withTransaction(pool, 'read committed', (client) => client.query('select pg_sleep(3)')),
    ).rejects.toThrow('Query read timeout');
    expect(performance.now() - started).toBeLessThan(1_200);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('refuses writes when it is read only', async () => {
    const work = withTransaction(database.pool, 'repeatable read, read only', (client) =>
      client.query(`update public.balance set atoms = 0`),
    );
    await expect(work).rejects.toMatchObject({ code: '25006' });
  });

  it('fails one of two conflicting serializable transactions with a serialization failure', async () => {
    let arrived = 0;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const spend = (account: string): Promise<unknown> =>
      withTransaction(database.pool, 'serializable', async (client) => {
        const { rows } = await client.query<{ all: number }>(
          'select sum(atoms)::int8 as all from public.balance',
        );
        arrived += 1;
        if (arrived === 2) open();
        await gate;
        await client.query('update public.balance set atoms = $2 where account = $1', [
          account,
          (rows[0]?.all ?? 0) - 20,
        ]);
      });
    const failures = (await Promise.all([caught(spend('a')), caught(spend('b'))])).filter(
      (error) => error !== undefined,
    );
    expect(failures).toHaveLength(1);
    expect(isSerializationFailure(failures[0])).toBe(true);
    expect(isConnectionFailure(failures[0])).toBe(false);
  });
});

describe('a lost connection', () => {
  it('fails the transaction with a connection failure, and the pool stays usable', async () => {
    const work = withTransaction(database.pool, 'read committed', async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      await database.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await client.query('select 1');
    });
    expect(isConnectionFailure(await caught(work))).toBe(true);
    expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('does not crash the process if it was idle', async () => {
    const pool = openPool(database.url, { applicationName: 'sotto-idle', max: 1 });
    await pool.query('select 1');
    const removed = new Promise<void>((resolve) => {
      pool.once('remove', () => resolve());
    });
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sotto-idle'`,
    );
    await removed;
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('is also reported for a missing server', async () => {
    const nowhere = openPool('postgres://sotto:x@127.0.0.1:1/sotto', {
      applicationName: 'sotto-test',
      max: 1,
    });
    expect(isConnectionFailure(await caught(nowhere.query('select 1')))).toBe(true);
    await nowhere.end();
  });
});

it('a statement that takes too long is cancelled', async () => {
  const pool = openPool(database.url, { applicationName: 'sotto-test', max: 1, statementTimeoutMs: 50 });
  await expect(pool.query('select pg_sleep(5)')).rejects.toMatchObject({ code: '57014' });
  await pool.end();
});

describe('while another session locks a table', () => {
  const APPLICATION = 'sotto-waiting';
  let holder: PoolClient;

  beforeEach(async () => {
    holder = await database.pool.connect();
    await holder.query('begin; lock table public.balance in access exclusive mode');
  });
  afterEach(async () => {
    await holder.query('rollback');
    holder.release();
  });

  async function sessions(): Promise<readonly { readonly state: string }[]> {
    const text = 'select state from pg_stat_activity where application_name = $1';
    return (await database.pool.query<{ state: string }>(text, [APPLICATION])).rows;
  }

  it('a pool never exceeds its maximum of sessions, also after it has given up queries', async () => {
    const pool = openPool(database.url, { applicationName: APPLICATION, max: 2, answerTimeoutMs: 500 });
    for (let round = 0; round < 3; round += 1) {
      const queries = [1, 2].map(() => caught(pool.query('select atoms from public.balance')));
      const faults = await Promise.all(queries);
      expect(faults.map((fault) => isUnanswered(fault))).toEqual([true, true]);
      expect((await sessions()).length).toBeLessThanOrEqual(2);
      const busy = async () => (await sessions()).filter(({ state }) => state !== 'idle');
      await eventually(async () => expect(await busy()).toEqual([]));
    }
    await pool.end();
  });

  it('the server ends the session of a client that is gone, even during a statement without a time limit', async () => {
    const client = new pg.Client({
      connectionString: database.url,
      application_name: APPLICATION,
      options: KEPT,
    });
    client.on('error', () => undefined);
    await client.connect();
    const queries = caught(client.query('select atoms from public.balance'));
    await eventually(async () => expect(await sessions()).toEqual([{ state: 'active' }]));
    client.connection.stream.destroy();
    await queries;
    await eventually(async () => expect(await sessions()).toEqual([]), 20_000);
  });
});

it('a query to a server that vanished silently times out, and its connection is not used again', async () => {
  const { hostname, port } = new URL(database.url);
  const proxy = await openProxy({ target: { host: hostname, port: Number(port) } });
  const url = new URL(database.url);
  url.port = String(proxy.port);
  const pool = openPool(url.href, { applicationName: 'sotto-test', max: 1, answerTimeoutMs: 200 });
  await pool.query('select 1');
  proxy.blackhole('to-client');
  expect(isConnectionFailure(await caught(pool.query('select 1')))).toBe(true);
  proxy.heal();
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
  await proxy.close();
}, 5_000);

it('a pool for look-ups plans a statement once for all lists', async () => {
  const plans = async (looksUp: boolean): Promise<unknown> => {
    const pool = openPool(database.url, { applicationName: 'looking up', max: 1, looksUp });
    const text = 'select atoms from public.balance where account in (select * from unnest($1::text[]))';
    for (let queries = 0; queries < 10; queries += 1)
      await pool.query({ name: 'look-up', text, values: [['a']] });
    const { rows } = await pool.query<object>(
      `select generic_plans as once, custom_plans as custom from pg_prepared_statements where name = 'look-up'`,
    );
    await pool.end();
    return rows[0];
  };
  expect(await plans(true)).toEqual({ once: 10, custom: 0 });
  expect(await plans(false)).toEqual({ once: 0, custom: 10 });
});
