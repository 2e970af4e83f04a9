import { expect, it } from '@jest/globals';
import { sharesOf, type CpuProfile, type ProfileNode } from './shares.js';

const SHARD = 'file:///sotto/dist/libs/auction/shard/shard.js';
const PG = 'file:///sotto/node_modules/pg/lib/client.js';
const TYPES = 'file:///sotto/node_modules/@nestjs/core/index.js';

function node(id: number, functionName: string, url: string, children: number[] = []): ProfileNode {
  return { id, callFrame: { functionName, url }, children };
}

/** A profile with one sample of ten microseconds for each named node. */
function profile(nodes: readonly ProfileNode[], samples: readonly number[]): CpuProfile {
  return { nodes, samples, timeDeltas: samples.map(() => 10) };
}

it('counts the time of Node and V8 for the calling area or package', () => {
  const nodes = [
    node(1, '(root)', '', [2, 5]),
    node(2, 'handle', SHARD, [3, 4]),
    node(3, 'parse', ''),
    node(4, 'query', PG, [6]),
    node(5, 'processTimers', 'node:internal/timers'),
    node(6, 'update', 'node:internal/crypto/hash'),
  ];
  const { busyMicros, parts } = sharesOf(profile(nodes, [2, 3, 3, 4, 6, 6, 6, 5, 5, 5]));
  expect(busyMicros).toBe(100);
  expect(Object.fromEntries(parts)).toEqual({ 'libs/auction/shard': 0.3, pg: 0.4, node: 0.3 });
});

it('counts socket writes and garbage collection separately, whatever caused them', () => {
  const nodes = [
    node(1, '(root)', '', [2, 4]),
    node(2, 'send', TYPES, [3]),
    node(3, 'writev', ''),
    node(4, '(garbage collector)', ''),
  ];
  expect(sharesOf(profile(nodes, [2, 3, 3, 4])).parts).toEqual([
    ['writing to sockets', 0.5],
    ['@nestjs/core', 0.25],
    ['collecting garbage', 0.25],
  ]);
});

it('leaves out idle time and module loading, and names the program by its main module', () => {
  const nodes = [
    node(1, '(root)', '', [2, 3, 6]),
    node(2, '(idle)', ''),
    node(3, 'evaluate', 'node:internal/modules/esm/module_job', [4]),
    node(4, '', 'file:///sotto/dist/apps/owner/main.js', [5]),
    node(5, 'run', SHARD),
    node(6, 'handle', SHARD),
  ];
  const of = profile(nodes, [2, 2, 3, 4, 5, 6]);
  expect(sharesOf(of)).toEqual({ program: 'owner', busyMicros: 10, parts: [['libs/auction/shard', 1]] });
  expect(sharesOf(profile([node(1, '(root)', '')], [])).program).toBeUndefined();
});
