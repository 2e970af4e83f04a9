import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Pool } from 'pg';
import { migrate, type MigrationClass } from '../../platform/database/migrate.js';
import { openPool } from '../../platform/database/postgres.js';
import { eventually } from '../eventually.js';
import { startTestServer, TEST_POSTGRES_VARIABLE, type TestServer } from './test-server.js';

const POOL_SIZE = 10;
const DROP_WITHIN_MS = 20_000;

export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  drop(): Promise<void>;
}

/** The server of a suite that runs without the global set-up. It stops with the last database on it. */
let own: { readonly server: Promise<TestServer>; users: number } | undefined;

/** A new database with its own name. `drop()` closes the pool and ends all other connections. */
export async function createTestDatabase(migrations: readonly MigrationClass[] = []): Promise<TestDatabase> {
  const serverUrl = await borrowServer();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(serverUrl, `create database ${name}`);
  const location = new URL(serverUrl);
  location.pathname = `/${name}`;
  const url = location.href;
  await migrate(url, migrations, { info: () => undefined });
  const pool = openPool(url, { applicationName: 'sotto-test', max: POOL_SIZE });
  return {
    url,
    pool,
    drop: async () => {
      await pool.end();
      await dropped(serverUrl, name);
      await returnServer();
    },
  };
}

/** Retries: autovacuum may be at work, and the server waits at most five seconds for it to stop. */
async function dropped(serverUrl: string, name: string): Promise<void> {
  const drop = `drop database if exists ${name} with (force)`;
  await eventually(() => administer(serverUrl, drop), DROP_WITHIN_MS);
}

async function borrowServer(): Promise<string> {
  const given = process.env[TEST_POSTGRES_VARIABLE];
  if (given !== undefined) return given;
  own ??= { server: startTestServer(), users: 0 };
  own.users += 1;
  return (await own.server).url;
}

async function returnServer(): Promise<void> {
  if (own === undefined) return;
  own.users -= 1;
  if (own.users > 0) return;
  const { server } = own;
  own = undefined;
  await (await server).stop();
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
