import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunningCluster } from '#libs/testing/running-cluster.js';
import { blocksOf, codeIn, rowsWith, textOf } from '../docs/markdown.js';
import { plainFloor, type TradingFloor } from './trading-floor.js';

interface Step {
  readonly command: string;
  /** What the README says that it prints; undefined where it shows no output. */
  readonly prints: string | undefined;
}

const OPEN_MS = 3_000;
const PATIENCE_MS = 30_000;
const MARK = '=== end of step';
/** Figures that every Node process has; prom-client documents them. */
const USUAL = /^(process|nodejs)_/;

let floor: TradingFloor;

beforeAll(async () => {
  floor = await plainFloor();
}, 90_000);

afterAll(() => {
  floor.close();
});

/** The blocks that a reader is asked to paste, each with the output that is shown below it. */
function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  for (const { marker, text } of blocksOf(markdown)) {
    if (marker === 'run') steps.push({ command: text, prints: undefined });
    const last = steps.at(-1);
    if (marker === 'prints' && last !== undefined) steps[steps.length - 1] = { ...last, prints: text };
  }
  return steps;
}

/** Pastes all of it into one shell, word for word, and gives the output of each step. */
async function paste(commands: readonly string[], gateway: string): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'readme-'));
  const script = commands.map((command) => `${command}\necho '${MARK}'\n`).join('');
  const env = { ...process.env, SOTTO: gateway, OPEN_MS: String(OPEN_MS) };
  try {
    const run = promisify(execFile)('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: folder,
      env,
      timeout: PATIENCE_MS,
    });
    const { stdout } = await run;
    return stdout.split(`${MARK}\n`).slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the quick start of the README', () => {
  it('works word for word and prints what it says', async () => {
    const steps = stepsOf(textOf('README.md'));
    expect(steps.filter(({ prints }) => prints !== undefined).length).toBeGreaterThan(2);
    const outputs = await paste(
      steps.map(({ command }) => command),
      floor.cluster.gatewayUrl,
    );
    expect(outputs).toHaveLength(steps.length);
    for (const [index, { prints }] of steps.entries()) {
      if (prints === undefined) expect(outputs[index]).not.toMatch(/"error"|undefined|curl:/);
      else expect(outputs[index]).toBe(prints);
    }
  }, 40_000);
});

describe('the metrics in docs/operations.md', () => {
  it('are those that the processes of a cluster show', async () => {
    const shown = await scrape(floor.cluster);
    const documented = rowsWith('docs/operations.md', 'Metric', 'Of').flatMap((row) =>
      codeIn(row.Of ?? '').flatMap((kind) => codeIn(row.Metric ?? '').map((name) => `${kind} ${name}`)),
    );
    expect(documented.sort()).toEqual(shown);
  });
});

/** `kind name` of every figure of our own. */
async function scrape(cluster: RunningCluster): Promise<string[]> {
  const found = cluster.file.processes.map(async ({ kind, metrics_url: url }) => {
    const text = await (await fetch(url)).text();
    const names = [...text.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name ?? '');
    return names.filter((name) => !USUAL.test(name)).map((name) => `${kind} ${name}`);
  });
  return [...new Set((await Promise.all(found)).flat())].sort();
}
