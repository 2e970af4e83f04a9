import path from 'node:path';
import { expect, it } from '@jest/globals';
import { sharedTradingCluster } from '#libs/testing/cluster/shared-cluster.js';
import { textOf } from '../../docs/markdown.js';
import { paste, stepsOf } from '../../docs/pasting.js';

it('the guide for traders works word for word and prints the documented output', async () => {
  const { dataDir } = await sharedTradingCluster();
  const steps = stepsOf(textOf('docs/use/trading.md'));
  expect(steps.filter(({ prints }) => prints !== undefined).length).toBeGreaterThan(6);
  const outputs = await paste(steps, { CLUSTER: path.join(dataDir, 'cluster.json') });
  expect(outputs).toHaveLength(steps.length);
  for (const [index, { prints }] of steps.entries()) {
    if (prints === undefined) expect(outputs[index]).not.toMatch(/"error"|undefined|curl:/);
    else expect(outputs[index]).toBe(prints);
  }
}, 120_000);
