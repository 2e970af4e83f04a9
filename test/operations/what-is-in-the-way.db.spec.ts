import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, urlAs } from '#libs/schema/roles/database-roles.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';

jest.setTimeout(60_000);

const folder = mkdtempSync(path.join(tmpdir(), 'sotto-in-the-way-'));
const file = path.join(folder, 'file');
const PASSWORD = 'some-password-of-theirs';
/** The full tier tests all of them. */
const COMMANDS: readonly (readonly [string, string])[] = [
  ['accounts', 'list'],
  ['journal', 'verify --output json'],
];

let empty: TestDatabase;
let whole: TestDatabase;
let sound: TestDatabase;

beforeAll(async () => {
  writeFileSync(file, '');
  empty = await createTestDatabase();
  await empty.pool.query('drop schema meta');
  whole = await createTestDatabase(allMigrations);
  sound = await createTestDatabase(allMigrations);
  await prepareDatabaseRoles(whole.url, { settler: PASSWORD });
});
afterAll(async () => {
  await dropWithRoles(whole);
  await sound.drop();
  await empty.drop();
  rmSync(folder, { recursive: true, force: true });
});

interface Ending {
  readonly code: number | null;
  readonly lines: readonly string[];
}

async function ending(tool: string, args: string, env: Readonly<Record<string, string>>): Promise<Ending> {
  const { code, errors } = await runTool(`apps/cli/main.js ${tool}`, args.split(' '), env);
  const lines = errors.trimEnd().split('\n');
  const isDocument = args.endsWith('json');
  return {
    code,
    lines: isDocument ? lines.map((line) => (JSON.parse(line) as { message: string }).message) : lines,
  };
}

function elsewhere(change: (url: URL) => void): string {
  const url = new URL(whole.url);
  change(url);
  return url.href;
}

describe.each(COMMANDS)('npm run %s -- %s', (tool, args) => {
  const told = async (url: string): Promise<Ending> => await ending(tool, args, { DATABASE_URL: url });

  it('reports that a database was never migrated', async () => {
    expect(await told(empty.url)).toEqual({
      code: 78,
      lines: [expect.stringContaining('the database has no tables of this product')],
    });
  });

  it('reports a missing login or database', async () => {
    const strangers = elsewhere((place) => {
      place.username = 'nobody_of_that_name';
      place.password = 'none-of-theirs';
    });
    const absent = elsewhere((place) => {
      place.pathname = '/no_such_database';
    });
    for (const { code, lines } of await Promise.all([told(strangers), told(absent)])) {
      expect([code, lines]).toEqual([78, [expect.stringContaining('the database refuses DATABASE_URL')]]);
      expect(lines.join()).not.toContain('none-of-theirs');
    }
  });

  it('names the right that a login lacks', async () => {
    const { code, lines } = await told(urlAs(whole.url, 'settler', PASSWORD));
    // Some tools check first whether the login owns the tables, and end with 69.
    expect([69, 78]).toContain(code);
    expect(lines).toEqual([expect.stringMatching(/may not|does not own|KAFKA_BROKERS/)]);
  });
});

it.each([
  ['in which no backup can be made', 'create', '/proc/of/backups', 69, 'its parent takes no folders'],
  ['without a backup', 'check', folder, 1, `${folder} holds no backup`],
  ['without a backup to restore', 'restore', '/proc', 1, '/proc holds no backup'],
])('a folder %s is named', async (_, command, place, code, why) => {
  const end = await ending('backup', `${command} --folder ${place}`, { DATABASE_URL: whole.url });
  expect(end).toEqual({ code, lines: [expect.stringMatching(`^backup: .*${why}`)] });
});

it('a path that is not a data folder is named', async () => {
  const places = [file, '/proc/data'].map((place) => ending('journal', 'verify', { DATA_DIR: place }));
  for (const { code, lines } of await Promise.all(places)) {
    expect([69, 78]).toContain(code);
    expect(lines).toHaveLength(1);
  }
});

/** As if the end of its journal had been cut off since. */
async function projectedFurther({ pool }: TestDatabase): Promise<void> {
  await pool.query(`insert into auction_history.projection_offsets (shard, epoch, sequence, hash) values (0, 1, 7, sha256('cut off'))
                    on conflict (shard) do update set sequence = 7, hash = sha256('cut off')`);
}

describe('a journal whose end was cut off', () => {
  it('is reported when projections are rebuilt from it', async () => {
    await projectedFurther(whole);
    const rebuilt = await ending('projection', 'rebuild --output json', { DATABASE_URL: whole.url });
    expect(rebuilt).toEqual({
      code: 65,
      lines: [expect.stringContaining('journal of shard 0 is corrupt at sequence 1: it ends at 0')],
    });
  });
});

describe('without standard error', () => {
  /** The exit code, and whether there was any standard output. */
  async function silenced(tool: string, args: string, url: string): Promise<[number | null, boolean]> {
    const child = spawn(process.execPath, ['dist/apps/cli/main.js', tool, ...args.split(' ')], {
      env: { PATH: process.env.PATH, DATABASE_URL: url },
      stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')],
    });
    const [said, [code]] = await Promise.all([
      text(child.stdout!),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return [code, said !== ''];
  }

  it.each([
    ['journal', 'verify', 0, true],
    ['backup', `create --folder ${path.join(folder, 'unheard')}`, 0, true],
    ['backup', `create --folder ${path.join(folder, 'unheard')}`, 69, false],
  ] as const)('the code of %s -- %s is %d', async (tool, args, code, said) => {
    expect(await silenced(tool, args, sound.url)).toEqual([code, said]);
  });

  it('the code for damage is right, too', async () => {
    await projectedFurther(sound);
    expect(await silenced('journal', 'verify', sound.url)).toEqual([1, true]);
    expect(await silenced('projection', 'rebuild', sound.url)).toEqual([65, false]);
  });
});
