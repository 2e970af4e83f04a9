import { describe, expect, it } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { PROCESSES } from '#libs/platform/processes/catalogue.js';
import { ALERTS } from './monitoring.js';
import { kindOf, ROOT } from './processes.js';

const MEBIBYTE = 2 ** 20;
/** Memory outside the heap of every process: code, stacks, buffers of a few connections. */
const BESIDE = 64 * MEBIBYTE;

interface Container {
  readonly name: string;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
}

interface Bounds {
  readonly limit: number;
  readonly options: string;
}

function isContainer(part: object): part is Container {
  return 'image' in part && 'resources' in part;
}

/** All containers in a manifest of any kind. */
function containersIn(part: unknown): Container[] {
  if (typeof part !== 'object' || part === null) return [];
  return [...(isContainer(part) ? [part] : []), ...Object.values(part).flatMap((each) => containersIn(each))];
}

const folder = path.join(ROOT, 'deploy/kubernetes');
const inKubernetes = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => parseAllDocuments(readFileSync(path.join(folder, file), 'utf8')))
    .flatMap((document) => containersIn(document.toJS()))
    .map(({ name, env, resources }): [string, Bounds] => [
      name,
      {
        limit: bytesOf(resources.limits.memory),
        options: env.find((each) => each.name === 'NODE_OPTIONS')?.value ?? '',
      },
    ]),
);
const { services } = parse(readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8'), {
  merge: true,
  maxAliasCount: 1_000,
}) as {
  readonly services: Readonly<
    Record<string, { readonly mem_limit?: string; readonly environment?: { readonly NODE_OPTIONS?: string } }>
  >;
};
const inCompose = Object.entries(services).flatMap(
  ([name, { mem_limit: limit, environment }]): [string, Bounds][] =>
    limit === undefined ? [] : [[name, { limit: bytesOf(limit), options: environment?.NODE_OPTIONS ?? '' }]],
);
/** Tools without a pod of their own, called in the operator's pod. */
const FROM_THE_POD = new Set(['projection', 'backup', 'accept-restored']);

function bytesOf(limit: string): number {
  const [, amount, unit = ''] = /^(\d+)([MG])i?$/i.exec(limit) ?? [];
  return Number(amount) * MEBIBYTE * (unit.toLowerCase() === 'g' ? 1024 : 1);
}

/** The heap limit that Node derives from the options. */
function heapLimit(options: string): number {
  const script = 'process.stdout.write(String(v8.getHeapStatistics().heap_size_limit))';
  const env = { PATH: process.env.PATH, NODE_OPTIONS: options };
  return Number(execFileSync(process.execPath, ['-e', script], { env, encoding: 'utf8' }));
}

const [, heapShare = NaN, limitShare = NaN] = (
  /^nodejs_heap_size_used_bytes \/ sotto_heap_limit_bytes > (\S+) or process_resident_memory_bytes \/ sotto_memory_limit_bytes > (\S+)$/.exec(
    ALERTS.find(({ alert }) => alert === 'MemoryHigh')?.expr ?? '',
  ) ?? []
).map(Number);

describe('the memory of a container', () => {
  it.each([...inKubernetes])('of %s is mostly its heap, and leaves room for the rest', (_name, bounds) => {
    const heap = heapLimit(bounds.options);
    expect(heap / bounds.limit).toBeGreaterThan(0.55);
    expect(heap / bounds.limit).toBeLessThanOrEqual(0.8);
    expect(bounds.limit - heap).toBeGreaterThanOrEqual(BESIDE);
  });

  it('is the same in docker-compose.yml as in the manifests', () => {
    expect(inCompose.length).toBeGreaterThan(12);
    for (const [name, bounds] of inCompose) {
      const kind = FROM_THE_POD.has(name) ? 'operator' : kindOf(name);
      expect([name, bounds]).toEqual([name, inKubernetes.get(kind)]);
    }
  });
});

describe('the alert on memory', () => {
  it.each(PROCESSES.filter(({ replicas }) => replicas.kubernetes > 0).map(({ name }) => name))(
    'fires before %s has used up its heap or its container, and not long before',
    (kind) => {
      const { limit, options } = inKubernetes.get(kind)!;
      const heap = heapLimit(options);
      const [, old] = /--max-old-space-size=(\d+)/.exec(options) ?? [];
      // The old generation fills up; the young one counts towards the limit, and is never full for long.
      const filled = (heapShare * heap) / (Number(old) * MEBIBYTE);
      expect(filled).toBeGreaterThan(0.7);
      expect(filled).toBeLessThan(0.9);
      // The second condition of the alert covers a full heap.
      expect(limitShare * limit).toBeGreaterThan(heap);
      expect(limitShare).toBeLessThan(0.95);
    },
  );

  it('fires for a process that leaks, before that process ends', async () => {
    const { used, signal } = await untilHeapIsFull();
    expect(signal).toBe('SIGABRT');
    expect(used.filter((share) => share > heapShare).length).toBeGreaterThan(3);
    expect(used.length).toBeGreaterThan(20);
  });
});

/** Keeps a hundred thousand numbers a step, and prints at each what a scrape would show. */
const LEAK = `
  import { createMetrics } from '#libs/platform/process/metrics.js';
  const registry = createMetrics({});
  const figure = (all, name) => all.find((each) => each.name === name).values[0].value;
  const kept = [];
  for (;;) {
    kept.push(Array.from({ length: 100_000 }, (_, each) => ({ each })));
    const all = await registry.getMetricsAsJSON();
    const share = figure(all, 'nodejs_heap_size_used_bytes') / figure(all, 'sotto_heap_limit_bytes');
    await new Promise((told) => process.stdout.write(share + ' ', told));
  }
`;

async function untilHeapIsFull(): Promise<{
  readonly used: readonly number[];
  readonly signal: string | null;
}> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', LEAK], {
    env: { PATH: process.env.PATH, NODE_OPTIONS: '--max-old-space-size=160 --max-semi-space-size=8' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let told = '';
  child.stdout.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { used: told.trim().split(' ').map(Number), signal };
}
