import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';

const PROGRAM = 'test/faults/main.js';
const WITHIN_MS = 150_000;

function campaign(...args: readonly string[]): readonly string[] {
  return ['--seed', '22', '--store', 'postgres', '--open-auctions', '0', ...args];
}

function folders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('sotto-faults-'));
}

/** Waits until it has begun to build in its folder. */
async function begun(known: ReadonlySet<string>): Promise<string> {
  const folder = await eventually(() => {
    const found = folders().find((name) => !known.has(name) && existsSync(join(tmpdir(), name, 'postgres')));
    if (found === undefined) throw new Error('it has not begun');
    return found;
  }, WITHIN_MS);
  return join(tmpdir(), folder);
}

async function interrupted(child: ChildProcess, known: ReadonlySet<string>): Promise<string> {
  const folder = await begun(known);
  child.kill('SIGINT');
  return folder;
}

it(
  'a campaign that could inject none of the requested faults does not succeed',
  async () => {
    const { code, output } = await runTool(
      PROGRAM,
      campaign('--minutes', '0.1', '--only', 'kill:broker'),
      {},
    );
    expect(output).toContain('NOT RUN kill:broker: the journals are in PostgreSQL');
    expect(output).toContain('LOOKED AT TOO LITTLE: not one fault was done');
    expect(output).toMatch(/^0 faults in 0 rounds/m);
    expect([code, output.trimEnd().split('\n').at(-1)]).toEqual([1, 'seed 22: FAILED']);
    const logs = /^logs: (.+)$/m.exec(output)?.[1] ?? '';
    expect(existsSync(logs)).toBe(true);
    rmSync(dirname(logs), { recursive: true });
  },
  WITHIN_MS,
);

it(
  'a campaign that is interrupted while it builds its installation leaves nothing of it, and reports its findings',
  async () => {
    const known = new Set(folders());
    const child = spawn(process.execPath, ['tools/run.mjs', PROGRAM, ...campaign()], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, folder, [code]] = await Promise.all([
      text(child.stdout),
      interrupted(child, known),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    expect([code, output.trimEnd().split('\n').at(-1)]).toEqual([130, 'seed 22: interrupted']);
    expect(output).toMatch(/^0 faults in 0 rounds/m);
    expect(existsSync(folder)).toBe(false);
  },
  WITHIN_MS,
);
