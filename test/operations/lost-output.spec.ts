import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

/** Blocks of 512 bytes that a file may have: not all of what the tool says. */
const BLOCKS = 1;
const folder = mkdtempSync(path.join(tmpdir(), 'sotto-output-'));
/** Those that print what they found out: all but the one that only ends with a code, and what makes a document. */
const TOOLS = readdirSync('apps/operations')
  .filter((name) => name.endsWith('.ts'))
  .filter((file) => readFileSync(path.join('apps/operations', file), 'utf8').includes('print('))
  .map((file) => path.basename(file, '.ts'))
  .filter((name) => name !== 'standard-output');

beforeAll(() => {
  const { status } = spawnSync(process.execPath, ['tools/build.mjs', '--if-stale']);
  expect(status).toBe(0);
}, 120_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function help(tool: string, output: number | 'pipe', more: readonly string[] = []) {
  const child = spawn(process.execPath, [`dist/apps/operations/${tool}.js`, '--help', ...more], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', output, 'pipe'],
  });
  if (output === 'pipe') child.stdout?.destroy();
  const [errors, [code]] = await Promise.all([
    text(child.stderr!),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, errors };
}

it('there are tools', () => {
  expect(TOOLS.sort()).toEqual([
    ...['accounts', 'backup', 'journal', 'kafka', 'ledger', 'ops', 'projection', 'seed'],
  ]);
});

describe.each(TOOLS)('what %s says', (tool) => {
  it('is told to be lost, in one line, where the disk is full', async () => {
    expect(await help(tool, openSync('/dev/full', 'w'))).toEqual({
      code: 69,
      errors: `${tool}: cannot use standard output: no space left on the device\n`,
    });
  });

  it('is no fault where its reader leaves', async () => {
    expect(await help(tool, 'pipe')).toEqual({ code: 0, errors: '' });
  });
});

it('is told to be lost where the file takes the first part of it only', async () => {
  const file = path.join(folder, 'limited');
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      `ulimit -f ${BLOCKS}; exec "$0" dist/apps/operations/journal.js --help > ${file}`,
      process.execPath,
    ],
    { env: { PATH: process.env.PATH }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const [errors, [code]] = await Promise.all([
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  expect([code, errors]).toEqual([69, 'journal: cannot use standard output: no file may grow that large\n']);
  expect(readFileSync(file, 'utf8')).toMatch(/^Usage/);
});

it('is a document where one is asked for', async () => {
  const { code, errors } = await help('ledger', openSync('/dev/full', 'w'), ['--output', 'json']);
  expect([code, JSON.parse(errors)]).toEqual([69, { message: expect.stringContaining('no space left') }]);
});
