import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { eventually } from '#libs/testing/eventually.js';
import { readManifest, writeManifest } from './manifest.js';
import { backupToRestore, restoreBackup, resumeRestore } from './restore-backup.js';

jest.setTimeout(120_000);

const BASELINE_BACKUP = 'test/upgrade/baseline/backup';
const TOOL = 'apps/cli/main.js backup';
const CORRECTION = `update risk.evidence set risk_valid_until = now() where risk_valid_until = 'infinity'`;
const silent = (): void => undefined;

let folder: string;
let backup: string;
let database: TestDatabase;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-resume-'));
  chmodSync(folder, 0o711);
  backup = path.join(folder, 'backup');
  cpSync(BASELINE_BACKUP, backup, { recursive: true });
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a value that a later migration refuses, as a settler could have. */
async function spoilEvidence(): Promise<void> {
  const name = 'risk.evidence';
  const file = path.join(backup, `${name}.rows.gz`);
  const rows = gunzipSync(readFileSync(file)).toString();
  const spoiled = rows.replace(/\\"20[^"\\]*\\"/, '\\"infinity\\"');
  expect(spoiled).not.toBe(rows);
  writeFileSync(file, gzipSync(spoiled));
  await changeManifest(({ tables, migrations }) => {
    const table = tables.find((each) => each.name === name);
    if (table !== undefined) table.sha256 = createHash('sha256').update(spoiled).digest('hex');
    migrations.splice(migrations.indexOf('InitialBounds1790000500000'), 1);
  });
}

interface ManifestFields {
  readonly tables: { name: string; rows: number; sha256: string }[];
  readonly migrations: string[];
}

async function changeManifest(by: (fields: ManifestFields) => void): Promise<void> {
  const fields = await readManifest(backup);
  by(fields);
  await writeManifest(backup, fields);
}

/** Expects one fault, in the last line. */
async function fault(args: readonly string[], env: Readonly<Record<string, string>>): Promise<unknown[]> {
  const { code, output, errors } = await runTool(TOOL, args, env);
  expect([output, errors]).toEqual(['', expect.not.stringMatching(/^\s+at /m)]);
  return [code, errors.trimEnd().split('\n').at(-1)];
}

const isHere = async (): Promise<boolean> =>
  (await database.pool.query(`select from pg_class where relname = 'unfinished_restore'`)).rowCount === 1;

describe('a restore of rows that a later migration refuses', () => {
  const restore = (): string[] => ['restore', '--folder', backup];
  const resume = ['restore', '--resume'];
  const NAMED =
    /\(table risk\.evidence, constraint \w+_can_be_read\).*Values that cannot be read.*restore --resume$/;

  it('is finished without the backup after the row is corrected, and nothing starts before', async () => {
    await spoilEvidence();
    const env = { DATABASE_URL: database.url };
    expect(await fault(restore(), env)).toEqual([65, expect.stringMatching(NAMED)]);
    rmSync(backup, { recursive: true });
    expect(await fault(resume, env)).toEqual([65, expect.stringMatching(NAMED)]);
    const start = await runTool('apps/cli/main.js migrate', [], env);
    expect([start.code, start.output]).toEqual([65, expect.stringContaining('restore --resume finishes it')]);
    expect(await isHere()).toBe(true);

    const found = await runbookOutput();
    expect(found).toEqual([
      expect.stringMatching(/^risk\.evidence: risk_valid_until is infinity, ctid \(\d+,\d+\)$/),
    ]);
    await database.pool.query(CORRECTION);
    const { code, output } = await runTool(TOOL, resume, env);
    expect([code, output]).toEqual([0, expect.stringMatching(/^\d+ rows of 2026-\S+ restored\n$/)]);
    expect(await isHere()).toBe(false);
    const { rows } = await database.pool.query(
      `select (select count(*) from journal.records) > 0 as full, restored_at is not null as restored from journal.life`,
    );
    expect(rows).toEqual([{ full: true, restored: true }]);
    const again = await runTool(TOOL, ['create', '--folder', path.join(folder, 'other')], env);
    expect(again.code).toBe(0);
  });

  it('can be corrected in a data folder while a call keeps the server open', async () => {
    await spoilEvidence();
    const data = path.join(folder, 'data');
    const env = { DATA_DIR: data };
    expect(await fault(restore(), env)).toEqual([65, expect.stringMatching(NAMED)]);
    const child = spawn(process.execPath, ['tools/run.mjs', ...TOOL.split(' '), ...resume, '--wait'], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const ended = Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>]);
    let printed = '';
    for await (const chunk of child.stderr) {
      printed += String(chunk);
      if (!printed.includes('Enter to go on')) continue;
      break;
    }
    const url = new URL(/open at (\S+):/.exec(printed)?.[1] ?? '');
    expect(url.password).toBe('');
    const credentials = readFileSync(path.join(data, 'postgres', 'credentials.json'), 'utf8');
    url.password = (JSON.parse(credentials) as { application: string }).application;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(CORRECTION);
    await client.end();
    child.stdin.end('\n');
    const [output, [code]] = await ended;
    expect([code, output]).toEqual([0, expect.stringContaining('restored')]);
    const again = await runTool(TOOL, ['create', '--folder', path.join(folder, 'other')], env);
    expect(again.code).toBe(0);
    expect(await fault(resume, env)).toEqual([
      69,
      expect.stringContaining('there is no unfinished restore here'),
    ]);
  });
});

/** Runs the query of the runbook as the owner of the tables. */
async function runbookOutput(): Promise<string[]> {
  const runbook = readFileSync('docs/operate/database.md', 'utf8');
  const [, query = ''] =
    /#+ Values that cannot be read[^]*?```sql\n[^]*?```[^]*?```sql\n([^]*?)```/.exec(runbook) ?? [];
  const client = await database.pool.connect();
  const notices: string[] = [];
  client.on('notice', ({ message = '' }) => notices.push(message));
  await client.query(query);
  client.release(true);
  return notices;
}

describe('a resumed restore', () => {
  it('is refused where rows are missing, and says to begin again', async () => {
    const ended = restoreBackup(database.url, await backupToRestore(backup), () => {
      throw new Error('interrupted');
    });
    await expect(ended).rejects.toThrow('interrupted');
    const args = ['restore', '--resume'];
    expect(await fault(args, { DATABASE_URL: database.url })).toEqual([
      65,
      expect.stringContaining('not all rows of the backup are there: drop the database'),
    ]);
    expect(await isHere()).toBe(true);
  });

  it('is refused where no restore was begun, and changes nothing', async () => {
    const place = path.join(folder, 'none');
    for (const env of [{ DATABASE_URL: database.url }, { DATA_DIR: place }]) {
      expect(await fault(['restore', '--resume'], env)).toEqual([
        69,
        expect.stringContaining('there is no unfinished restore here'),
      ]);
    }
    expect([existsSync(place), await isHere()]).toEqual([false, false]);
  });

  it('finishes once when several calls resume it', async () => {
    await spoilEvidence();
    await expect(restoreBackup(database.url, await backupToRestore(backup), silent)).rejects.toThrow(
      '--resume',
    );
    await database.pool.query(CORRECTION);
    const ended = await Promise.allSettled([1, 2, 3].map(() => resumeRestore(database.url)));
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of ended)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ exitCode: 69 });
  });

  it.each([
    [['restore', '--resume', '--folder', 'x'], '--resume reads no backup'],
    [['check', '--resume'], 'check has no --resume'],
    [['restore', '--wait', '--folder', 'x'], '--wait goes with --resume'],
  ])('refuses the arguments: %s', async (args, message) => {
    const { code, errors } = await runTool(TOOL, args, { DATABASE_URL: database.url });
    expect([code, errors]).toEqual([64, expect.stringContaining(message)]);
  });
});

it('rows that do not fit their tables are reported in one line', async () => {
  await changeManifest(({ tables }) => tables.reverse());
  expect(await fault(['restore', '--folder', backup], { DATABASE_URL: database.url })).toEqual([
    1,
    expect.stringContaining('its rows do not fit their tables: '),
  ]);
});

it('a killed restore leaves a data folder that every program refuses, even right after its database was made', async () => {
  const data = path.join(folder, 'data');
  const env = { PATH: process.env.PATH, DATA_DIR: data };
  const child = spawn(process.execPath, ['dist/apps/cli/main.js', 'backup', 'restore', '--folder', backup], {
    env,
    stdio: 'ignore',
  });
  const gone = once(child, 'close');
  await eventually(() => {
    expect(existsSync(path.join(data, 'postgres', 'data'))).toBe(true);
    return Promise.resolve();
  });
  child.kill('SIGKILL');
  await gone;
  for (const [program, ...args] of [
    ['cli/main.js journal', 'verify'],
    ['cli/main.js backup', 'restore', '--folder', backup],
    ['launcher/main.js'],
  ] as const) {
    const { code, output, errors } = await runTool(`apps/${program}`, args, { DATA_DIR: data });
    expect([program, code, `${output}${errors}`]).toEqual([
      program,
      65,
      expect.stringContaining('the restore of this database is not finished'),
    ]);
    expect(`${output}${errors}`).not.toContain('SOUND');
  }
  rmSync(path.join(data, 'postgres'), { recursive: true });
  const args = ['restore', '--folder', backup];
  const again = await runTool('apps/cli/main.js backup', args, { DATA_DIR: data });
  expect([again.code, again.output]).toEqual([0, expect.stringContaining('restored from')]);
  const verified = await runTool('apps/cli/main.js journal', ['verify'], { DATA_DIR: data });
  expect([verified.code, verified.output]).toEqual([0, expect.stringContaining('SOUND')]);
});
