import path from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { sharedDataCluster } from '#libs/testing/cluster/shared-cluster.js';
import { textOf } from '../../docs/markdown.js';
import { paste, stepsOf } from '../../docs/pasting.js';

const PAGES = [
  ...['README', 'markets', 'candles', 'trades', 'companion', 'recorded'].map(
    (page) => `use/market-data/${page}`,
  ),
  'operate/market-data',
];

let dataDir: string;

beforeAll(async () => {
  ({ dataDir } = await sharedDataCluster());
}, 120_000);

it.each(PAGES)(
  'the page %s works word for word and prints the documented output',
  async (page) => {
    const steps = stepsOf(textOf(`docs/${page}.md`));
    expect(steps.filter(({ prints }) => prints !== undefined).length).toBeGreaterThan(1);
    const outputs = await paste(steps, { CLUSTER: path.join(dataDir, 'cluster.json') });
    expect(outputs).toHaveLength(steps.length);
    for (const [index, { prints }] of steps.entries()) {
      if (prints === undefined) expect(outputs[index]).not.toMatch(/"error"|undefined|curl:/);
      else expect(outputs[index]).toBe(prints);
    }
  },
  60_000,
);
