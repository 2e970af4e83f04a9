import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { migrate } from '#libs/platform/database/migrate.js';
import { isUnanswered } from '#libs/platform/database/postgres.js';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '#libs/platform/embedded-postgres/embedded-postgres.js';
import { eventually } from '#libs/testing/eventually.js';
import { allMigrations } from '../all-migrations.js';
import { prepareDatabaseRoles, urlAs } from './database-roles.js';
import { LOCKS } from './grants.js';

jest.setTimeout(60_000);

const DENIED = '42501';
const PASSWORD = 'a-password';

let folder: string;
let server: EmbeddedPostgres;
/** As who administers the server, in a database in which everybody has what PostgreSQL gives him. */
let url: string;
const open: pg.Client[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-locks-'));
  chmodSync(folder, 0o711);
  const place = path.join(folder, 'postgres');
  server = await startEmbeddedPostgres({ folder: place, logFile: path.join(folder, 'log'), durable: false });
  const credentials = JSON.parse(readFileSync(path.join(place, 'credentials.json'), 'utf8')) as {
    superuser: string;
  };
  const administration = new URL(server.url);
  administration.username = 'postgres';
  administration.password = credentials.superuser;
  await (await session(administration.href)).query('create database own template template0');
  administration.pathname = '/own';
  url = administration.href;
  await migrate(url, allMigrations, { info: () => undefined });
});

afterAll(async () => {
  await Promise.all(open.map((client) => client.end().catch(() => undefined)));
  await server.stop('immediate');
  rmSync(folder, { recursive: true, force: true });
});

async function session(as: string): Promise<pg.Client> {
  const client = new pg.Client(as);
  client.on('error', () => undefined);
  await client.connect();
  open.push(client);
  return client;
}

it('a migration by who administers the server takes from everybody what is for few', async () => {
  const warnings: string[] = [];
  const warn = (line: string): number => warnings.push(line);
  const passwords = { projector: PASSWORD, owner: PASSWORD };
  await prepareDatabaseRoles(url, passwords, { warn });
  expect(warnings).toEqual([]);
  const projector = await session(urlAs(url, 'projector', PASSWORD));
  expect((await projector.query('select meta.take_lease(0) as mine')).rows).toEqual([{ mine: true }]);
  for (const call of ['pg_advisory_lock(1)', 'lo_create(0)', `pg_logical_emit_message(false, 'a', 'b')`])
    await expect(projector.query(`select ${call}`)).rejects.toMatchObject({ code: DENIED });
  const administration = await session(url);
  await administration.query('grant connect on database postgres to public');
  await prepareDatabaseRoles(url, passwords, { warn });
  expect(warnings).toEqual([expect.stringContaining('it may connect to postgres;')]);
});

it('a migration that may not pass on what it may call says so', async () => {
  const lesser = new URL(server.url);
  await (await session(lesser.href)).query('create database lesser template template0');
  lesser.pathname = '/lesser';
  const administration = new URL(url);
  administration.pathname = '/lesser';
  const locks = Object.keys(LOCKS).join(', ');
  const administrator = await session(administration.href);
  await administrator.query(`grant execute on function ${locks} to ${lesser.username}`);
  await administrator.query(`revoke execute on function ${locks} from public`);
  await migrate(lesser.href, allMigrations, { info: () => undefined });
  const warnings: string[] = [];
  await prepareDatabaseRoles(lesser.href, { owner: PASSWORD }, { warn: (line) => warnings.push(line) });
  expect(warnings).toContainEqual(
    expect.stringMatching(/^processes will not work: .*pg_advisory_lock\(bigint\) to lesser_owner/),
  );
});

it('who has filled the locks of the server is found and ended as the runbook says', async () => {
  const runbook = readFileSync('docs/operations.md', 'utf8');
  const [, text = ''] = /### Who uses up locks[^]*?```sql\n([^]*?)```/.exec(runbook) ?? [];
  const [find = '', , keepOut = '', end = ''] = text
    .replaceAll('sotto_projector', 'own_owner')
    .split(/;.*\n/)
    .filter((statement) => statement !== '');
  const administration = await session(url);
  const hoarder = await session(urlAs(url, 'owner', PASSWORD));
  const { rows: own } = await hoarder.query<{ pid: number }>('select pg_backend_pid() as pid');
  const { pid } = own[0]!;
  const hoard = 'select count(pg_advisory_lock(g)) from generate_series(1, 2000000) g';
  const refused: unknown = await hoarder.query(hoard).catch((error: unknown) => error);
  expect([(refused as pg.DatabaseError).code, isUnanswered(refused)]).toEqual(['53200', true]);

  const { rows } = await administration.query<{ pid: number; locks: string }>(find);
  expect(rows[0]!.pid).toBe(pid);
  expect(Number.parseInt(rows[0]!.locks, 10)).toBeGreaterThan(200_000);
  await expect(session(url)).rejects.toMatchObject({ code: '53200' });
  process.kill(pid);
  await eventually(async () => {
    const again = await session(url);
    await again.query(keepOut);
    await again.query(end);
  });
  await expect(session(urlAs(url, 'owner', PASSWORD))).rejects.toMatchObject({ code: '28000' });
});
