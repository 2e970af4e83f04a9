import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { allMigrations } from '../all-migrations.js';
import { prepareDatabaseRoles, urlAs, type RolePasswords } from './database-roles.js';
import { DATABASE_ROLES, type DatabaseRole } from './grants.js';
import { sessionsFor, sessionsOfAll, USUAL_PROCESSES, USUAL_SESSIONS } from './login-sessions.js';

jest.setTimeout(30_000);

const PASSWORDS = Object.fromEntries(
  DATABASE_ROLES.map((role) => [role, `${role}-password`]),
) as Required<RolePasswords>;
const FEW = { owner: 3, gateway: 4, projector: 2, executor: 5, operations: 1 };
const TOO_MANY = '53300';

let database: TestDatabase;
const open: pg.Client[] = [];

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.end()));
});
afterAll(() => dropWithRoles(database));

async function logIn(role: DatabaseRole): Promise<void> {
  const client = new pg.Client({ connectionString: urlAs(database.url, role, PASSWORDS[role]) });
  client.on('error', () => undefined);
  await client.connect();
  open.push(client);
}

/** How many it gets before it is refused, and by what. */
async function fill(role: DatabaseRole): Promise<readonly [number, unknown]> {
  for (let count = 0; ; count += 1) {
    try {
      await logIn(role);
    } catch (error) {
      return [count, (error as pg.DatabaseError).code];
    }
  }
}

it('each login has as many sessions as it may, while all others have all of theirs', async () => {
  await prepareDatabaseRoles(database.url, PASSWORDS, { sessions: FEW });
  for (const role of DATABASE_ROLES) expect(await fill(role)).toEqual([FEW[role], TOO_MANY]);
});

it('a server without room for all of them is told, and forbids nothing', async () => {
  const warnings: string[] = [];
  const warn = (line: string): number => warnings.push(line);
  expect(await prepareDatabaseRoles(database.url, PASSWORDS, { warn })).toBe(true);
  expect(warnings).toEqual([]);
  const sessions = { ...USUAL_SESSIONS, gateway: 1_000 };
  expect(await prepareDatabaseRoles(database.url, PASSWORDS, { warn, sessions })).toBe(true);
  expect(warnings).toEqual([
    expect.stringMatching(/max_connections=200 .* fewer than the \d{4} .*gateway 1000/),
  ]);
});

it('the usual numbers fit a server with 200 connections, three of them for who administers it', () => {
  expect(sessionsOfAll(USUAL_SESSIONS) + 3).toBeLessThanOrEqual(200);
  expect(USUAL_SESSIONS).toEqual({ owner: 64, gateway: 56, projector: 27, executor: 24, operations: 12 });
  expect(sessionsFor({ ...USUAL_PROCESSES, gateways: 5 }).gateway - USUAL_SESSIONS.gateway).toBe(14);
});
