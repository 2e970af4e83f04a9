import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

/** Blocks of 512 bytes that a file may have: less than the tool's output. */
const BLOCKS = 1;
const folder = mkdtempSync(path.join(tmpdir(), 'sotto-output-'));
const TOOLS = ['accounts', 'backup', 'journal', 'kafka', 'ledger', 'ops', 'projection'];
/** By name: the program, and the exit code of its help. */
const PROGRAMS: readonly (readonly [string, string, number])[] = [
  ...TOOLS.map((name) => [name, `apps/cli/main.js ${name}`, 0] as const),
  ['replay', 'apps/replay/main.js', 0],
  ['simulate', 'test/simulator/main.js', 64],
  ['faults', 'test/faults/main.js', 64],
  ['fuzz', 'test/fuzz/main.js', 64],
  ['bench', 'bench/bench.js', 0],
  ['seed', 'bench/seed.js', 0],
];

beforeAll(() => {
  const { status } = spawnSync(process.execPath, ['tools/build.mjs', '--if-stale']);
  expect(status).toBe(0);
}, 120_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function ending(
  program: string,
  args: readonly string[],
  { output, errors = 'pipe' as const }: { output: number | 'pipe'; errors?: number | 'pipe' },
  environment: Readonly<Record<string, string>> = {},
) {
  const child = spawn(process.execPath, [...`dist/${program}`.split(' '), ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', output, errors],
  });
  const [said, told, [code]] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, said, told };
}

/** A reader that leaves before it has read anything. */
async function unread(program: string, args: readonly string[]) {
  const child = spawn(process.execPath, [...`dist/${program}`.split(' '), ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const [told, [code]] = await Promise.all([
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, told };
}

const full = (): number => openSync('/dev/full', 'w');

describe.each(PROGRAMS)('the output of %s', (name, program, codeOfHelp) => {
  it('is reported as lost, in one line, if the disk is full', async () => {
    const { code, told } = await ending(program, ['--help'], { output: full() });
    expect(told).toMatch(
      new RegExp(`^${name}: cannot use standard output: no space left on (?:the )?device\\n$`),
    );
    expect(code).toBe(69);
  });

  it('may be cut off by its reader without an error', async () => {
    expect(await unread(program, ['--help'])).toEqual({ code: codeOfHelp, told: '' });
  });
});

describe('a demo without output', () => {
  const stage = { SOTTO_URL: 'http://127.0.0.1:1', SOTTO_PASSWORD: 'some' };

  it('ends in one line', async () => {
    expect(await ending('apps/demo/main.js', [], { output: full() }, stage)).toEqual({
      code: 69,
      said: '',
      told: 'demo: cannot use standard output: no space left on the device\n',
    });
  });
});

it('is reported as lost if the file takes only the first part of it', async () => {
  const file = path.join(folder, 'limited');
  const child = spawn(
    '/bin/sh',
    ['-c', `ulimit -f ${BLOCKS}; exec "$0" dist/apps/cli/main.js journal --help > ${file}`, process.execPath],
    { env: { PATH: process.env.PATH }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const [errors, [code]] = await Promise.all([
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  expect([code, errors]).toEqual([69, 'journal: cannot use standard output: no file may grow that large\n']);
  expect(readFileSync(file, 'utf8')).toMatch(/^Usage/);
});

it('is reported in a document on request', async () => {
  const { code, told } = await ending('apps/cli/main.js ledger', ['--help', '--output', 'json'], {
    output: full(),
  });
  expect([code, JSON.parse(told)]).toEqual([69, { message: expect.stringContaining('no space left') }]);
});

describe('if the reader of standard error is gone', () => {
  const called: readonly (readonly [string, string, readonly string[], number])[] = [
    ...TOOLS.map((name) => [name, `apps/cli/main.js ${name}`, ['--no-such-option'], 64] as const),
    ['replay', 'apps/replay/main.js', ['--no-such-option'], 64],
    ['replay of no file', 'apps/replay/main.js', [path.join(folder, 'none.json')], 66],
    ['bench', 'bench/bench.js', ['--no-such-option'], 64],
    ['demo without a cluster', 'apps/demo/main.js', [], 69],
    ['backup check of nothing', 'apps/cli/main.js backup', ['check', '--folder', folder], 1],
  ];

  it.each(called)('the exit code of %s is right', async (_name, program, args, code) => {
    const elsewhere = { DATA_DIR: path.join(folder, 'none') };
    const heard = await ending(program, args, { output: 'pipe' }, elsewhere);
    expect(heard.code).toBe(code);
    expect(heard.told).not.toBe('');
    expect(await ending(program, args, { output: 'pipe', errors: full() }, elsewhere)).toEqual({
      ...heard,
      told: '',
    });
  });

  it('the exit code is right if standard output is gone as well', async () => {
    const both = { output: full(), errors: full() };
    expect((await ending('apps/cli/main.js ledger', ['--help'], both)).code).toBe(69);
  });
});
