import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, jest } from '@jest/globals';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';

jest.setTimeout(300_000);

/** Without rows that need brokers, which test/kafka covers. */
const ROWS = [
  'idle',
  'journal',
  'replay',
  'reserve',
  'projection',
  'quotes',
  'one-account',
  'latency',
  'lag',
  'http',
  'get',
  'fanout',
  'push',
  'memory',
  'recovery',
  'completed',
  'order-acks',
  'order-latency',
  'order-fill',
  'matching',
  'cancel-all',
  'order-page',
  'cell-recovery',
];

interface Report {
  readonly quick: boolean;
  readonly rows: readonly {
    readonly name: string;
    readonly checks: readonly { readonly what: string; readonly measured: number; readonly score: number }[];
  }[];
}

async function bench(...args: readonly string[]): Promise<ToolRun> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-bench-'));
  try {
    return await runTool('bench/bench.js', [...args, '--save', folder], {});
  } finally {
    await rm(folder, { recursive: true });
  }
}

it('npm run bench prints a figure for every row, whatever its value on this machine', async () => {
  const { code, output, errors } = await bench('--quick', '--json', '--only', ROWS.join(','));
  expect([code, code === 0 ? '' : errors]).toEqual([0, '']);
  const { quick, rows } = JSON.parse(output) as Report;
  expect([quick, rows.map(({ name }) => name)]).toEqual([true, ROWS]);
  for (const { name, checks } of rows) {
    expect([name, checks.length > 0]).toEqual([name, true]);
    for (const { what, measured, score } of checks) {
      expect([name, what, Number.isFinite(measured), Number.isFinite(score)]).toEqual([
        name,
        what,
        true,
        true,
      ]);
    }
  }
});

it('refuses an unknown row', async () => {
  const { code, errors } = await bench('fan-out');
  expect([code, errors]).toEqual([64, expect.stringContaining('there is no row fan-out')]);
});
