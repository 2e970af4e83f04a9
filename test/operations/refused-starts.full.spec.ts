import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { runTool } from '#libs/testing/cluster/tool-run.js';

const KEY = '0123456789abcdef'.repeat(4);
/** No process listens on port 1. */
const NOWHERE = 'postgres://somebody:secret-of-theirs@127.0.0.1:1/sotto';
const OWNERS = [2, 3, 4].map((port) => `http://127.0.0.1:${port}`);
const SETTINGS = {
  DATABASE_URL: NOWHERE,
  OWNER_URLS: OWNERS.join(),
  SERVICE_TOKEN: KEY,
  ID_KEY: KEY,
  SHARD: '0',
  PORT: '18097',
  SESSION_KEK: KEY,
  STREAM_KEYS: KEY,
  AUDIT_KEY: KEY,
  AUDIT_SIGNING_KEY: KEY,
};

const folder = mkdtempSync(path.join(tmpdir(), 'sotto-refused-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ending {
  readonly code: number | null;
  readonly fatal: readonly string[];
  /** All output. */
  readonly text: string;
}

async function ending(process: string, differing: Readonly<Record<string, string>> = {}): Promise<Ending> {
  const { code, output, errors } = await runTool(process, [], { ...SETTINGS, ...differing });
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const told = lines.map((line) => JSON.parse(line) as { readonly level: string; readonly msg: string });
  const fatal = told.filter(({ level }) => level === 'fatal').map(({ msg }) => msg);
  return { code, fatal, text: output + errors };
}

describe('a start without its database', () => {
  it.each([
    ['apps/owner/main.js', 70],
    ['apps/gateway/main.js', 70],
    ['apps/cli/main.js migrate', 69],
  ])('ends with a sentence: %s, %d', async (process, code) => {
    const { code: ended, fatal, text } = await ending(process);
    expect([ended, fatal]).toEqual([
      code,
      ['the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1'],
    ]);
    expect(text).not.toMatch(/stack|node_modules|secret-of-theirs/);
  });

  it.each([
    ['accounts', 'list'],
    ['ledger', 'show'],
    ['projection', 'lag'],
    ['journal', 'verify'],
    ['backup', `create --folder ${path.join(folder, 'of/backups')}`],
  ])('ends with a line: npm run %s', async (tool, args) => {
    const run = await runTool(`apps/cli/main.js ${tool}`, args.split(' '), { DATABASE_URL: NOWHERE });
    expect(run).toEqual({
      code: 69,
      output: '',
      errors: `${tool}: the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('an internal listener on a missing interface', () => {
  it('ends with a sentence and 78', async () => {
    const { code, fatal, text } = await ending('apps/settler/main.js', { INTERNAL_HOST: 'nosuch0' });
    expect([code, fatal]).toEqual([
      78,
      [
        expect.stringMatching(
          /^INTERNAL_HOST: nosuch0 is neither an address nor an interface of this machine \(E\w+\)$/,
        ),
      ],
    ]);
    expect(text).not.toContain('getaddrinfo');
  });
});

describe('OWNER_URLS', () => {
  it.each(['owner', 'gateway', 'settler'])(
    'has one address for each shard, or no %s starts',
    async (kind) => {
      const process = `apps/${kind}/main.js`;
      const four = await ending(process, { OWNER_URLS: [...OWNERS, 'http://127.0.0.1:5'].join() });
      expect([four.code, four.fatal]).toEqual([
        78,
        ['OWNER_URLS is wrong: it has 4 addresses, and there are 3 shards with one each'],
      ]);
      const twice = await ending(process, { OWNER_URLS: [...OWNERS.slice(0, 2), `${OWNERS[0]}/`].join() });
      expect([twice.code, twice.fatal]).toEqual([
        78,
        ['OWNER_URLS is wrong: 127.0.0.1:2 stands for two shards'],
      ]);
    },
  );
});
