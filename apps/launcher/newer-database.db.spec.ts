import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseTooNew, GENERATION, refuseNewerDatabase } from '#libs/platform/database/generation.js';
import { pickPortRange } from '#libs/platform/supervision/ports.js';
import { beginRestore, endRestore } from '#libs/platform/database/unfinished-restore.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, roleName, urlAs } from '#libs/schema/roles/database-roles.js';
import { DATABASE_ROLES, GRANTS } from '#libs/schema/roles/grants.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';
import { planProcesses, type ProcessPlan } from './processes.js';
import { makeSecrets } from './secrets.js';

jest.setTimeout(90_000);

/** For every role, whether or not its process gets far enough to use it. */
const PASSWORD = 'a-password-of-20-letters'.replaceAll('-', '');
const ROWS_AS_TEXT = (table: string): string =>
  `select coalesce(string_agg(t::text, e'\\n' order by t::text), '') as text from ${table} t`;

let database: TestDatabase;
let name: string;
let folder: string;
let plans: readonly ProcessPlan[];

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  name = new URL(database.url).pathname.slice(1);
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-newer-'));
  // As a later release would have left it.
  await database.pool.query(
    `insert into meta.migration (timestamp, name) values (1800000000000, 'OfLater1800000000000')`,
  );
  const passwords = Object.fromEntries(DATABASE_ROLES.map((role) => [role, PASSWORD]));
  expect(await prepareDatabaseRoles(database.url, passwords)).toBe(true);
  plans = planProcesses({
    databases: {
      owner: urlAs(database.url, 'owner', PASSWORD),
      gateway: urlAs(database.url, 'gateway', PASSWORD),
      projector: urlAs(database.url, 'projector', PASSWORD),
      settler: urlAs(database.url, 'settler', PASSWORD),
    },
    secrets: makeSecrets(),
    limitsFactor: 1,
    journalPath: undefined,
    listenHost: '127.0.0.1',
    publicPorts: { gateway: [1] },
    services: ['auction'],
    internalUrls: { owner: [1, 2, 3].map((port) => `http://127.0.0.1:${port}`) },
  });
});
afterAll(async () => {
  await dropWithRoles(database);
  rmSync(folder, { recursive: true, force: true });
});

async function setOldest(oldest: number): Promise<void> {
  await database.pool.query(`update meta.generation set oldest = $1, release = '0.9.0'`, [oldest]);
}

/** The rows of all tables. */
async function everyRow(): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const table of Object.keys(GRANTS)) {
    const { rows } = await database.pool.query<{ text: string }>(ROWS_AS_TEXT(table));
    texts[table] = rows[0]!.text;
  }
  return texts;
}

interface Ended {
  readonly code: number | null;
  readonly printed: string;
}

async function run(
  script: string,
  {
    args = [],
    env,
  }: { readonly args?: readonly string[]; readonly env: Readonly<Record<string, string | undefined>> },
  /** Sends SIGTERM as soon as the output matches. */
  until?: RegExp,
): Promise<Ended> {
  const child = spawn(process.execPath, [...path.resolve('dist/apps', script).split(' '), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (until?.test(printed) === true) child.kill('SIGTERM');
    });
  }
  const patience = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(patience);
  return { code, printed };
}

const TOO_NEW = new RegExp(
  `for releases of generation ${GENERATION + 1} and later since 0\\.9\\.0 .* this release is of generation ${GENERATION}:`,
);

describe.each([
  {
    what: 'is for later releases only',
    make: () => setOldest(GENERATION + 1),
    mend: () => Promise.resolve(),
    refusal: TOO_NEW,
    exitCode: 78,
    processes: ['owner', 'gateway', 'projector', 'settler'],
    tools: [
      ['migrate', []],
      ['accounts', ['disable', 'ada@house.example']],
      ['ledger', ['show']],
      ['projection', ['rebuild']],
      ['journal', ['verify']],
      ['journal', ['accept-restored']],
      ['journal', ['copy', '--from', 'postgres', '--to', 'kafka']],
      ['backup', ['create', '--folder', 'BACKUP']],
    ] as [string, string[]][],
  },
  {
    what: 'has an unfinished restore',
    make: () => beginRestore(database.pool),
    mend: () => endRestore(database.pool),
    refusal:
      /the restore of this database is not finished: unless one is running, npm run backup -- restore --resume finishes it .* drop the database/,
    exitCode: 65,
    // One check refuses both, so one process is enough here.
    processes: ['owner'],
    tools: [
      ['migrate', []],
      ['journal', ['verify']],
    ] as [string, string[]][],
  },
])('a database that $what', ({ make, mend, refusal, exitCode, processes, tools }) => {
  let before: Record<string, string>;

  beforeEach(async () => {
    await setOldest(GENERATION);
    await make();
    before = await everyRow();
  });
  afterEach(mend);

  it.each(processes)('is not changed by the %s', async (kind) => {
    const plan = plans.find((planned) => planned.kind.name === kind)!;
    const { code, printed } = await run(plan.script, { env: plan.env });
    expect([code, printed]).toEqual([exitCode, expect.stringMatching(refusal)]);
    expect(await everyRow()).toEqual(before);
  });

  it.each(tools)('is not changed by %s %j', async (tool, args) => {
    const { code, printed } = await run(`cli/main.js ${tool}`, {
      args: args.map((arg) => arg.replace('BACKUP', path.join(folder, 'backup'))),
      env: {
        DATABASE_URL: database.url,
        ID_KEY: '0123456789abcdef'.repeat(4),
        KAFKA_BROKERS: '127.0.0.1:1',
        ...(tool === 'migrate' ? { DATABASE_PASSWORD_OWNER: PASSWORD } : {}),
      },
    });
    expect([code, printed]).toEqual([exitCode, expect.stringMatching(refusal)]);
    expect(await everyRow()).toEqual(before);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not changed by the launcher, which makes no secrets for it', async () => {
    const data = path.join(folder, 'data');
    const env = { DATABASE_URL: database.url, DATA_DIR: data, PORT: String(await pickPortRange(1)) };
    const { code, printed } = await run('launcher/main.js', { env });
    expect([code, printed]).toEqual([exitCode, expect.stringMatching(refusal)]);
    expect(await everyRow()).toEqual(before);
    expect(existsSync(path.join(data, 'secrets.json'))).toBe(false);
    rmSync(data, { recursive: true });
  });
});

describe('a database with migrations of a later release, which this one may still use', () => {
  beforeEach(() => setOldest(GENERATION));

  it('keeps the rights and passwords of the later release when the migration of this release runs again', async () => {
    const right = `select has_table_privilege('${roleName(name, 'settler')}', 'custody.openings', 'select') as given`;
    await database.pool.query(`grant select on custody.openings to ${roleName(name, 'settler')}`);
    const env = { DATABASE_URL: database.url, DATABASE_PASSWORD_OWNER: 'anotherpasswordof20' };
    const { code, printed } = await run('cli/main.js migrate', { env });
    expect([code, printed]).toEqual([0, expect.stringContaining('OfLater1800000000000')]);
    expect((await database.pool.query(right)).rows).toEqual([{ given: true }]);
    const owner = await run(
      'owner/main.js',
      { env: plans.find(({ kind }) => kind.name === 'owner')!.env },
      /recovered/,
    );
    expect([owner.code, owner.printed]).toEqual([0, expect.stringContaining('recovered')]);
  });

  it('is used by all processes: one that ends during an upgrade can restart', async () => {
    const data = path.join(folder, 'data');
    const env = {
      DATABASE_URL: database.url,
      DATA_DIR: data,
      PORT: String(await pickPortRange(1)),
      GATEWAYS: '1',
    };
    const { code, printed } = await run('launcher/main.js', { env }, /\bready$/m);
    expect([code, printed]).toEqual([0, expect.stringContaining('schema of a newer release')]);
    rmSync(data, { recursive: true });
  });
});

it('a role without the right to read the generation is told to run the migration', async () => {
  expect(await prepareDatabaseRoles(database.url, { owner: PASSWORD })).toBe(true);
  await database.pool.query(`revoke select on meta.generation from ${roleName(name, 'owner')}`);
  const { code, printed } = await run('owner/main.js', {
    env: plans.find(({ kind }) => kind.name === 'owner')!.env,
  });
  expect([code, printed]).toEqual([78, expect.stringContaining('run the migration of this release first')]);
});

it('a database without migrations fits every release', async () => {
  const empty = await createTestDatabase();
  await expect(refuseNewerDatabase(empty.pool)).resolves.toBeUndefined();
  await empty.drop();
  const { pool } = database;
  await setOldest(GENERATION + 1);
  await expect(refuseNewerDatabase(pool)).rejects.toThrow(DatabaseTooNew);
});
