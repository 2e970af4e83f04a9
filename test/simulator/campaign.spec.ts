import { spawn } from 'node:child_process';
import path from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');
const WITHIN_MS = 900_000;
/** Found within a few seeds each: one of each part, one that only twins find, one that ends processes and one that lets no world end. */
const SAMPLE = [
  'owner-answers-before-the-journal',
  'sink-takes-lost-for-written',
  'desk-ignores-other-shards',
  'stream-ignores-what-was-seen',
  'view-counts-rivals',
  'conflict-tells-of-rivals',
  'create-releases-what-was-refused',
  'agenda-never-settles',
];

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function run(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      resolve({ code, output });
    });
  });
}

it(
  'finds nothing wrong in a thousand worlds, and has been everywhere',
  async () => {
    const simulator = ['tools/run.mjs', 'test/simulator/main.js'];
    const { code, output } = await run(...simulator, '--seed', '1', '--count', '1000', '--must-reach');
    process.stdout.write(output);
    expect([code, output.match(/^seed .*$|not reached.*$/gm) ?? []]).toEqual([0, []]);
  },
  WITHIN_MS,
);

it(
  'finds bugs that are planted',
  async () => {
    const { code, output } = await run('test/simulator/mutants/run-mutants.mjs', '--count', '60', ...SAMPLE);
    expect([code, output]).toEqual([0, expect.stringContaining('8 of 8 planted bugs found')]);
    expect(output).toMatch(/^create-releases-what-was-refused .* no process throws: owner-\d: TypeError/m);
    expect(output).toMatch(/^agenda-never-settles .* every seed comes to an end: /m);
  },
  WITHIN_MS,
);
