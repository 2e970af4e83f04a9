import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, urlAs } from '#libs/schema/roles/database-roles.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';

jest.setTimeout(60_000);

const folder = mkdtempSync(path.join(tmpdir(), 'sotto-in-the-way-'));
const PASSWORD = 'some-password-of-theirs';
/** For each tool, the commands that need an existing database. */
const COMMANDS: readonly (readonly [string, string])[] = [
  ['accounts', 'list'],
  ['ledger', 'show'],
  ['journal', 'verify'],
  ['journal', 'dump --shard 0'],
  ['journal', 'compare'],
  ['journal', 'copy --from postgres --to kafka'],
  ['journal', 'accept-restored'],
  ['projection', 'lag'],
  ['projection', 'compare'],
  ['projection', 'rebuild'],
  ['backup', `create --folder ${path.join(folder, 'backup')}`],
];

let empty: TestDatabase;
let whole: TestDatabase;

beforeAll(async () => {
  empty = await createTestDatabase();
  await empty.pool.query('drop schema meta');
  whole = await createTestDatabase(allMigrations);
  await prepareDatabaseRoles(whole.url, { settler: PASSWORD });
});
afterAll(async () => {
  await dropWithRoles(whole);
  await empty.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function told(tool: string, args: string, url: string): Promise<[number | null, string[]]> {
  const run = await runTool(`apps/cli/main.js ${tool}`, args.split(' '), { DATABASE_URL: url });
  return [run.code, run.errors.trimEnd().split('\n')];
}

describe.each(COMMANDS)('npm run %s -- %s', (tool, args) => {
  it('says that a database was never migrated', async () => {
    const nothing = expect.stringContaining('the database has no tables of this product');
    expect(await told(tool, args, empty.url)).toEqual([78, [nothing]]);
  });

  it('names the right that a login lacks', async () => {
    const [code, lines] = await told(tool, args, urlAs(whole.url, 'settler', PASSWORD));
    // Some tools check first whether the login owns the tables, and end with 69.
    expect([69, 78]).toContain(code);
    expect(lines).toEqual([expect.stringMatching(/may not|does not own|KAFKA_BROKERS/)]);
  });
});

it.each([
  ['apps/cli/main.js accounts', 'list'],
  ['apps/cli/main.js ledger', 'show'],
  ['apps/cli/main.js projection', 'lag'],
  ['apps/cli/main.js backup', `create --folder ${path.join(folder, 'none')}`],
  ['bench/seed.js', '--completed 1'],
  ['apps/cli/main.js ops', 'shards'],
])('a path that is not a data folder is named by %s -- %s', async (program, args) => {
  const run = await runTool(program, args.split(' '), { DATA_DIR: '/proc/data' });
  expect([69, 78]).toContain(run.code);
  expect(run.errors.trimEnd().split('\n')).toHaveLength(1);
});
