import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { openPool } from './postgres.js';
import { SessionClient } from './session-client.js';
import { measureSessions } from './session-metrics.js';

const LOGIN = 'session_metrics_login';
const NO_SERVER = 'postgres://unknown@127.0.0.1:1/nothing';

let database: TestDatabase;
let registry: Registry;
let before: Readonly<Record<string, number>>;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query(
    `drop role if exists ${LOGIN}; create role ${LOGIN} login password 'right' connection limit 1`,
  );
});

afterAll(async () => {
  await database.pool.query(`drop role ${LOGIN}`);
  await database.drop();
});

beforeEach(async () => {
  registry = new Registry();
  measureSessions(registry);
  before = await refused();
});

async function valuesOf(name: string, by: string): Promise<Record<string, number>> {
  const metric = await registry.getSingleMetric(name)?.get();
  return Object.fromEntries(metric?.values.map(({ labels, value }) => [String(labels[by]), value]) ?? []);
}

function refused(): Promise<Record<string, number>> {
  return valuesOf('sotto_database_sessions_refused_total', 'reason');
}

/** The refusals since the start of the test. */
async function newRefusals(): Promise<Record<string, number>> {
  const now = await refused();
  return Object.fromEntries(Object.entries(now).map(([reason, value]) => [reason, value - before[reason]!]));
}

function urlOf(password: string): string {
  const url = new URL(database.url);
  url.username = LOGIN;
  url.password = password;
  return url.href;
}

function poolOf(url: string, max = 1): Pool {
  return openPool(url, { applicationName: 'sessions', max });
}

async function fails(pool: Pool): Promise<void> {
  await expect(pool.query('select 1')).rejects.toThrow();
  await pool.end();
}

it('exports each reason from the start, so that the first refusal is an increase', () => {
  expect(Object.keys(before).sort()).toEqual(['denied', 'too_many', 'unreachable']);
});

it('counts refused sessions of a pool, by reason', async () => {
  await fails(poolOf(urlOf('wrong')));
  await fails(poolOf(NO_SERVER));
  await fails(poolOf(new URL('/of_this_name_there_is_none', database.url).href));
  expect(await newRefusals()).toEqual({ denied: 2, too_many: 0, unreachable: 1 });
});

it('counts a refused separate session, with its reason', async () => {
  const first = new SessionClient({ connectionString: urlOf('right') });
  await first.connect();
  const second = new SessionClient({ connectionString: urlOf('right') });
  await expect(second.connect()).rejects.toMatchObject({ code: '53300' });
  expect(await newRefusals()).toEqual({ denied: 0, too_many: 1, unreachable: 0 });
  expect((await first.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await first.end();
});

it('reports busy sessions, idle sessions and waiting callers', async () => {
  const pool = poolOf(database.url, 2);
  const [one, two] = [await pool.connect(), await pool.connect()];
  const waiting = pool.query('select 1');
  expect(await valuesOf('sotto_database_sessions', 'state')).toEqual({ busy: 2, idle: 0 });
  expect(await valuesOf('sotto_database_session_waiters', 'pool')).toEqual({ sessions: 1, 'sotto-test': 0 });
  one.release();
  await waiting;
  expect(await valuesOf('sotto_database_session_waiters', 'pool')).toEqual({ sessions: 0, 'sotto-test': 0 });
  two.release();
  await pool.end();
});
