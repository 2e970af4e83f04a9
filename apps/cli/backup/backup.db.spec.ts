import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { mayExchange, mayReadAll } from '#libs/projecting/rebuild/exchange.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { Rebuild } from '#libs/projecting/rebuild/rebuild.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { eventually } from '#libs/testing/eventually.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { createBackup } from './create-backup.js';
import { readManifest, writeManifest } from './manifest.js';
import { backupToRestore, checkBackup, restoreBackup } from './restore-backup.js';

jest.setTimeout(60_000);

const silent = (): void => undefined;

let database: TestDatabase;
let folder: string;
let backup: string;

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  await database.pool.query(
    `insert into risk.reserved (account_id, venue, resource, asset, shard_0)
     select gen_random_uuid(), 'venue_a', 'cash', '', 1 from generate_series(1, 2000)`,
  );
});
afterAll(() => database.drop());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-backup-'));
  backup = path.join(folder, 'backup');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const create = (tell: (line: string) => void = silent) => createBackup({ pool: database.pool, tell }, backup);
const rowsIn = (tables: readonly { name: string; rows: number }[]) =>
  tables.find(({ name }) => name === 'risk.reserved')?.rows;

describe('overlapping calls of backup create', () => {
  it('leave one complete backup and refuse the other calls', async () => {
    const others: Promise<unknown>[] = [];
    const first = create(() => {
      if (others.length < 3) others.push(create());
    });
    await first.catch(silent);
    const ended = await Promise.allSettled([first, ...others]);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of ended) {
      if (one.status === 'fulfilled') continue;
      expect(one.reason).toMatchObject({ exitCode: 69, message: expect.stringContaining('exists already') });
    }
    expect(rowsIn((await checkBackup(backup)).tables)).toBe(2_000);
    expect(readdirSync(folder)).toEqual(['backup']);
  });

  it('leave the files of another call alone and report them', async () => {
    const left = `${backup}.partial-killed`;
    mkdirSync(left);
    writeFileSync(path.join(left, 'risk.reserved.rows.gz'), 'half');
    const printed: string[] = [];
    await create((line) => printed.push(line));
    expect(printed).toContainEqual(expect.stringContaining(left));
    expect(readFileSync(path.join(left, 'risk.reserved.rows.gz'), 'utf8')).toBe('half');
    expect(rowsIn((await checkBackup(backup)).tables)).toBe(2_000);
  });
});

it('texts with unusual line separators are restored unchanged', async () => {
  const endings = ['\u2028', '\u2029', '\u0085', '\r', '\v', '\r\n', '\n'];
  const names = endings.map((ending) => `${ending}one${ending}${ending}two${ending}`);
  await database.pool.query(
    `insert into control.groups select gen_random_uuid(), 'o', name from unnest($1::text[]) as name`,
    [names],
  );
  const other = await createTestDatabase([]);
  try {
    await create();
    await checkBackup(backup);
    await restoreBackup(other.url, await backupToRestore(backup), silent);
    const { rows } = await other.pool.query<{ name: string }>('select name from control.groups');
    expect(rows.map(({ name }) => name).sort()).toEqual([...names].sort());
  } finally {
    await other.drop();
    await database.pool.query('delete from control.groups');
  }
});

describe('a rebuild of the projections', () => {
  const reader = {
    heads: () => Promise.resolve(new Map()),
    read: () => Promise.resolve([]),
    entries: () => Promise.resolve([]),
  };
  const rebuild = (say: (line: string) => void): Promise<void> =>
    new Rebuild(auctionProjection, { pool: database.pool, reader, clock: new SystemClock(), say }).run();

  it('swaps no tables while a backup reads, so that no table in the backup is empty', async () => {
    await database.pool.query(
      `insert into auction_history.projection_offsets (shard, epoch, sequence, hash) values (0, 1, 0, $1)`,
      [Buffer.alloc(32)],
    );
    let rebuilt: Promise<void> | undefined;
    const manifest = await create(() => {
      rebuilt ??= rebuild(silent);
    });
    expect(manifest.tables.find((table) => table.name === 'auction_history.projection_offsets')?.rows).toBe(
      1,
    );
    await rebuilt;
  });

  it('waits for the backup without a lock that blocks readers', async () => {
    const guard = await database.pool.connect();
    const printed: string[] = [];
    let rebuilt: Promise<void> | undefined;
    try {
      expect(await mayReadAll(guard)).toBe(true);
      rebuilt = rebuild((line) => printed.push(line));
      await eventually(() => expect(printed).toEqual(['waits for a backup that is being made']));
      const { rowCount } = await database.pool.query(
        `select from pg_locks where mode = 'AccessExclusiveLock' and database = (select oid from pg_database where datname = current_database())`,
      );
      expect(rowCount).toBe(0);
    } finally {
      guard.release(true);
    }
    await rebuilt;
    expect(printed.at(-1)).toBe('exchanged');
  });

  it('makes a backup wait while it swaps tables', async () => {
    const client = await database.pool.connect();
    await client.query('begin');
    expect(await mayExchange(client)).toBe(true);
    const printed: string[] = [];
    const made = create((line) => printed.push(line));
    await eventually(() =>
      expect(printed).toEqual(['waits for a rebuild of the projections to swap its tables']),
    );
    await client.query('rollback');
    client.release();
    await made;
  });
});

describe('a full disk', () => {
  /** The size limit of a file in blocks of 512 bytes: too small for 2,000 accounts, or for the manifest. */
  it.each([
    [16, 'risk.reserved.rows.gz'],
    [8, 'manifest.json'],
  ])('ends a backup with one line and leaves no files: after %i blocks', async (blocks, file) => {
    if (file === 'manifest.json') await database.pool.query('truncate risk.reserved');
    const child = spawn(
      '/bin/sh',
      [
        '-c',
        `ulimit -f ${blocks}; exec "$0" dist/apps/cli/main.js backup create --folder ${backup}`,
        process.execPath,
      ],
      { env: { PATH: process.env.PATH, DATABASE_URL: database.url }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const [errors, output, [code]] = await Promise.all([
      text(child.stderr),
      text(child.stdout),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    const faults = errors
      .trimEnd()
      .split('\n')
      .filter((line) => !/^\w+\.\w+: \d+ rows$/.test(line));
    expect([code, output, faults]).toEqual([69, '', [expect.stringMatching(/^backup: cannot use .*: no /)]]);
    expect(faults[0]).toContain(file);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('backup check', () => {
  const manifest = (): string => path.join(backup, 'manifest.json');
  const change = (by: (content: Record<string, unknown>) => void): void => {
    const content = JSON.parse(readFileSync(manifest(), 'utf8')) as Record<string, unknown>;
    by(content);
    writeFileSync(manifest(), JSON.stringify(content));
  };
  const withoutFirst = (content: Record<string, unknown>): void => {
    (content.tables as unknown[]).shift();
  };

  it.each<[string, (content: Record<string, unknown>) => void]>([
    ['a table was removed', withoutFirst],
    ['its hash was removed', (content) => delete content.sha256],
    ['an unknown field was added', (content) => (content.more = 1)],
  ])('finds a changed manifest: %s', async (_, by) => {
    await create();
    change(() => undefined);
    await checkBackup(backup);
    change(by);
    await expect(checkBackup(backup)).rejects.toThrow('manifest.json is not what was written');
  });

  /** With a hash that fits the changed content. */
  const rewrite = async (by: (content: Record<string, unknown>) => void): Promise<void> => {
    const content = await readManifest(backup);
    by(content);
    await writeManifest(backup, content);
  };

  it('finds a table that the manifest does not name', async () => {
    await create();
    await rewrite(withoutFirst);
    await expect(checkBackup(backup)).rejects.toThrow('is there, and the manifest does not name it');
    const { code, errors } = await runTool('apps/cli/main.js backup', ['restore', '--folder', backup], {
      DATABASE_URL: database.url,
    });
    expect([code, errors]).toEqual([1, expect.stringContaining('the manifest does not name it')]);
  });

  it('finds tables of its migrations that both manifest and folder lack', async () => {
    const of = ['custody.entries', 'journal.records'];
    await create();
    await rewrite((content) => {
      content.tables = (content.tables as { name: string }[]).filter(({ name }) => !of.includes(name));
    });
    for (const name of of) rmSync(path.join(backup, `${name}.rows.gz`));
    const empty = await createTestDatabase();
    for (const command of ['check', 'restore']) {
      const args = [command, '--folder', backup];
      const { code, errors } = await runTool('apps/cli/main.js backup', args, { DATABASE_URL: empty.url });
      const message = `does not name ${of.join(', ')}, which`;
      expect([code, errors.trimEnd().split('\n')]).toEqual([1, [expect.stringContaining(message)]]);
    }
    const { rowCount } = await empty.pool.query(`select from pg_class where relname = 'unfinished_restore'`);
    await empty.drop();
    expect(rowCount).toBe(0);
  });
});

describe('the folder of a backup', () => {
  it.each(['notes.txt', 'lost+found.rows.gz'])(
    'is refused when it holds %s, which the manifest does not name',
    async (stray) => {
      await create();
      writeFileSync(path.join(backup, stray), '');
      await expect(checkBackup(backup)).rejects.toThrow(
        `${path.join(backup, stray)} is there, and the manifest does not name it`,
      );
    },
  );

  it.each(['manifest.json', 'risk.reserved.rows.gz'])(
    'is refused at once when %s is a pipe',
    async (name) => {
      await create();
      const place = path.join(backup, name);
      rmSync(place);
      execFileSync('mkfifo', [place]);
      await expect(checkBackup(backup)).rejects.toThrow(`${place} is not a file`);
    },
  );

  it('may hold files that file systems leave there', async () => {
    await create();
    for (const left of ['lost+found', '.snapshot']) mkdirSync(path.join(backup, left));
    writeFileSync(path.join(backup, '.nfs0000'), '');
    await checkBackup(backup);
  });
});

it('a restore from a folder without a backup makes no database', async () => {
  const place = path.join(folder, 'new');
  const args = ['restore', '--folder', path.join(folder, 'mistyped')];
  const { code, errors } = await runTool('apps/cli/main.js backup', args, { DATA_DIR: place });
  expect([code, errors]).toEqual([1, expect.stringContaining('holds no backup')]);
  expect(existsSync(place)).toBe(false);
});

describe('an interrupted restore', () => {
  const TOLD = 'the restore of this database is not finished';

  it('leaves a database that another restore refuses', async () => {
    await create();
    const half = await createTestDatabase();
    const ended = restoreBackup(half.url, await backupToRestore(backup), () => {
      throw new Error('interrupted');
    });
    await expect(ended).rejects.toThrow('interrupted');
    const { code, output, errors } = await runTool(
      'apps/cli/main.js backup',
      ['restore', '--folder', backup],
      {
        DATABASE_URL: half.url,
      },
    );
    expect([code, output, errors.trimEnd().split('\n')]).toEqual([65, '', [expect.stringContaining(TOLD)]]);
    await half.drop();
  });
});
