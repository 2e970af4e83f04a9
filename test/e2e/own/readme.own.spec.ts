import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';
import { codeIn, rowsWith, textOf } from '../../docs/markdown.js';
import { paste, stepsOf } from '../../docs/pasting.js';
import { plainFloor, type TradingFloor } from '../trading-floor.js';

const OPEN_MS = 3_000;
/** Metrics of every Node process; prom-client documents them. */
const USUAL = /^(process|nodejs)_/;

let floor: TradingFloor;

beforeAll(async () => {
  floor = await plainFloor({ SERVICES: 'auction,execution,data' });
}, 90_000);

afterAll(() => floor.end());

describe('the quick start of the README, and the first hour after it', () => {
  it('work word for word and print the documented output', async () => {
    const steps = ['README.md', 'docs/start/README.md'].flatMap((page) => stepsOf(textOf(page)));
    expect(steps.filter(({ prints }) => prints !== undefined).length).toBeGreaterThan(2);
    const outputs = await paste(steps, {
      SOTTO: floor.cluster.gatewayUrl,
      OPEN_MS: String(OPEN_MS),
      CLUSTER: path.join(floor.cluster.dataDir, 'cluster.json'),
    });
    expect(outputs).toHaveLength(steps.length);
    for (const [index, { prints }] of steps.entries()) {
      if (prints === undefined) expect(outputs[index]).not.toMatch(/"error"|undefined|curl:/);
      else expect(outputs[index]).toBe(prints);
    }
  }, 40_000);
});

describe('the metrics in docs/operate/metrics.md', () => {
  it('are those that the processes of a cluster show', async () => {
    const shown = await scrape(floor.cluster);
    // traces.spec checks the metrics of traces.
    const rows = rowsWith('docs/operate/metrics.md', 'Metric', 'Of').filter(
      (row) => row.Of?.includes('with traces') !== true,
    );
    const documented = rows.flatMap((row) =>
      codeIn(row.Of ?? '').flatMap((kind) => codeIn(row.Metric ?? '').map((name) => `${kind} ${name}`)),
    );
    expect(documented.sort()).toEqual(shown);
  });
});

/** `kind name` of every metric of ours. */
async function scrape(cluster: RunningCluster): Promise<string[]> {
  const found = cluster.file.processes.map(async ({ kind, metrics_url: url }) => {
    const text = await (await fetch(url)).text();
    const names = [...text.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name ?? '');
    return names.filter((name) => !USUAL.test(name)).map((name) => `${kind} ${name}`);
  });
  return [...new Set((await Promise.all(found)).flat())].sort();
}
