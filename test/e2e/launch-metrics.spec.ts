import { beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { plainFloor, type TradingFloor } from './trading-floor.js';

const OPERATIONS = readFileSync(path.resolve('docs/operations.md'), 'utf8');

interface Metric {
  readonly process: string;
  readonly name: string;
  readonly type: string;
}

let floor: TradingFloor;
let metrics: readonly Metric[];

beforeAll(async () => {
  floor = await plainFloor();
  const scrapes = floor.cluster.file.processes.map(async ({ name: process, metrics_url: url }) => {
    const text = await (await fetch(url)).text();
    return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
      process,
      name,
      type,
    }));
  });
  // What Node and the client library bring along has names that are not ours to choose.
  metrics = (await Promise.all(scrapes)).flat().filter(({ name }) => !/^(process|nodejs)_/.test(name));
}, 60_000);

it('every process of the cluster has metrics of ours', () => {
  const silent = floor.cluster.file.processes.filter(
    ({ name }) => !metrics.some(({ process }) => process === name),
  );
  expect(silent).toEqual([]);
});

it('counters and only they are called totals, and time is in seconds', () => {
  const wrong = metrics.filter(
    ({ name, type }) =>
      (type === 'counter') !== name.endsWith('_total') || /_(ms|millis|micros|nanos)(_|$)/.test(name),
  );
  expect(wrong).toEqual([]);
});

it('docs/operations.md explains every one of them', () => {
  const names = new Set(metrics.map(({ name }) => name));
  expect([...names].filter((name) => !OPERATIONS.includes(`\`${name}\``))).toEqual([]);
});
