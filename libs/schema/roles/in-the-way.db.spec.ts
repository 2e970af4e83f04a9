import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate } from '#libs/platform/database/migrate.js';
import { amidOthers } from '#libs/platform/database/migration-turn.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { allMigrations } from '../all-migrations.js';
import { prepareDatabaseRoles, roleName, urlAs } from './database-roles.js';
import { DATABASE_ROLES } from './grants.js';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';

const PASSWORD = 'some-password';
const PASSWORDS = Object.fromEntries(DATABASE_ROLES.map((role) => [role, PASSWORD]));
const SHORT = { boundMs: 600, tellAfterMs: 150, lockMs: 3_000 };
const BEYOND_MS = 1_500;

let database: TestDatabase;
let name: string;
let told: string[];
let others: pg.Client[];
const tell = (line: string): void => {
  told.push(line);
};

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  name = new URL(database.url).pathname.slice(1);
  await prepareDatabaseRoles(database.url, PASSWORDS);
});
beforeEach(() => {
  told = [];
  others = [];
});
afterEach(async () => {
  for (const other of others) await other.end().catch(() => undefined);
});
afterAll(async () => {
  await dropWithRoles(database);
});

async function session(url: string, application: string): Promise<{ client: pg.Client; pid: number }> {
  const client = new pg.Client({ connectionString: url, application_name: application });
  client.on('error', () => undefined);
  others.push(client);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return { client, pid: rows[0]!.pid };
}

const login = (role: 'gateway' | 'projector' | 'owner'): string => urlAs(database.url, role, PASSWORD);

describe.each([
  {
    what: 'the migration',
    lock: 7_210_554_316,
    run: (): Promise<unknown> =>
      migrate(database.url, allMigrations, { info: () => undefined, tell }, { patience: SHORT }),
  },
  {
    what: 'the roles',
    lock: 7_210_554_320,
    run: (): Promise<unknown> => prepareDatabaseRoles(database.url, PASSWORDS, { tell, patience: SHORT }),
  },
])('the lock of $what', ({ lock, run }) => {
  it.each(['psql', 'sotto-migrate'])(
    'held by a login that calls itself %s is told of, and an end',
    async (alias) => {
      const { client, pid } = await session(login('owner'), alias);
      await client.query('select pg_advisory_lock($1)', [lock]);
      const who = `process ${pid}, role ${roleName(name, 'owner')}, application ${alias}`;
      await expect(run()).rejects.toMatchObject({ exitCode: 69, message: expect.stringContaining(who) });
      expect(told).toEqual([expect.stringContaining(who)]);
    },
  );

  it('held by another migration is waited for, however long that takes', async () => {
    const { client } = await session(database.url, 'sotto-migrate');
    await client.query('select pg_advisory_lock($1)', [lock]);
    let isOver = false;
    const waiting = run().finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, BEYOND_MS));
    expect(isOver).toBe(false);
    await client.end();
    await waiting;
    expect(told).toHaveLength(1);
  });
});

it('a role that somebody is changing is waited for a few times, and he is named', async () => {
  const { client, pid } = await session(login('gateway'), 'psql');
  await client.query(`alter role current_user set work_mem = '1MB'`);
  await client.query(`begin; alter role current_user set work_mem = '2MB'`);
  await expect(
    prepareDatabaseRoles(database.url, PASSWORDS, { tell, patience: SHORT }),
  ).rejects.toMatchObject({
    exitCode: 69,
    message: expect.stringContaining(`held by process ${pid}, role ${roleName(name, 'gateway')}`),
  });
  expect(told).toEqual([expect.stringContaining(`process ${pid}`)]);
  await client.query('rollback');
  expect(await prepareDatabaseRoles(database.url, PASSWORDS, { tell })).toBe(true);
});

describe('what somebody changes meanwhile', () => {
  const changed = (): Error => Object.assign(new Error('tuple concurrently updated'), { code: 'XX000' });

  it('is tried again', async () => {
    const { client } = await session(database.url, 'test');
    let attempts = 0;
    const work = (): Promise<void> => {
      attempts += 1;
      return attempts < 3 ? Promise.reject(changed()) : Promise.resolve();
    };
    await amidOthers(client, work, tell);
    expect(attempts).toBe(3);
  });

  it('again and again is 69, and not damage', async () => {
    const { client } = await session(database.url, 'test');
    await expect(amidOthers(client, () => Promise.reject(changed()), tell)).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('somebody goes on changing'),
    });
  });
});
