import { beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sharedDataCluster, sharedTradingCluster } from '#libs/testing/cluster/shared-cluster.js';
import { EXPRESSIONS, groupedBy, selectorsIn } from '../../deploy/monitoring.js';
import { auctionBody, sharedFloor, type TradingFloor } from '../trading-floor.js';

const OPERATIONS = readFileSync(path.resolve('docs/operate/metrics.md'), 'utf8');

interface Metric {
  readonly process: string;
  readonly name: string;
  readonly type: string;
}

interface Family {
  readonly metric: string;
  /** Names of the labels that occur. */
  readonly labels: readonly string[];
  /** `label="value"` of those samples. */
  readonly values: ReadonlySet<string>;
}

let floor: TradingFloor;
let metrics: readonly Metric[];
let families: ReadonlyMap<string, Family>;

beforeAll(async () => {
  floor = await sharedFloor();
  // One login and one successful command each, which the rules leave out.
  const [originator, maker] = await floor.newTraders('originator', 'maker');
  const { auction_id: id } = await originator.opens(auctionBody(floor.contract('venue_a', 0), [maker], {}));
  const texts: string[] = [];
  const others = [(await sharedTradingCluster()).file, (await sharedDataCluster()).file];
  const all = [floor.cluster.file, ...others].flatMap(({ processes }) => processes);
  const scrapes = all.map(async ({ name: process, metrics_url: url }) => {
    const text = await (await fetch(url)).text();
    texts.push(text);
    return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
      process,
      name,
      type,
    }));
  });
  // Names from Node and the client library are not ours to choose.
  metrics = (await Promise.all(scrapes)).flat().filter(({ name }) => !/^(process|nodejs)_/.test(name));
  families = familiesIn(texts);
  await originator.cancel(id);
  floor.close();
}, 120_000);

it('every process of the cluster has metrics of ours', () => {
  const silent = floor.cluster.file.processes.filter(
    ({ name }) => !metrics.some(({ process }) => process === name),
  );
  expect(silent).toEqual([]);
});

it('only counters are called totals, and time is in seconds', () => {
  const wrong = metrics.filter(
    ({ name, type }) =>
      (type === 'counter') !== name.endsWith('_total') || /_(ms|millis|micros|nanos)(_|$)/.test(name),
  );
  expect(wrong).toEqual([]);
});

it('docs/operate/metrics.md explains every one of them', () => {
  const names = new Set(metrics.map(({ name }) => name));
  expect([...names].filter((name) => !OPERATIONS.includes(`\`${name}\``))).toEqual([]);
});

/** By the name used in expressions: a histogram has three. */
function familiesIn(texts: readonly string[]): Map<string, Family> {
  const found = new Map<string, Family>();
  for (const [, metric = '', type] of texts.join('\n').matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const suffix of suffixes) found.set(`${metric}${suffix}`, { metric, labels: [], values: new Set() });
  }
  for (const [, metric = '', braces = ''] of texts.join('\n').matchAll(/^(\w+)\{([^}]*)\}/gm)) {
    const labels = [...braces.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
    const { labels: known = [], values = new Set<string>() } = found.get(metric) ?? {};
    const met = [...braces.matchAll(/\w+="[^"]*"/g)].map(([pair]) => pair);
    found.set(metric, {
      metric,
      labels: [...new Set([...known, ...labels])],
      values: new Set([...values, ...met]),
    });
  }
  return found;
}

/** Labels that Prometheus adds or makes, or that all samples of a process have. */
const OF_PROMETHEUS = new Set(['job', 'le', 'instance']);

it.each(EXPRESSIONS)('%s uses only metrics that exist', (_what, expr) => {
  const asked = selectorsIn(expr).filter(({ metric }) => metric !== 'up');
  expect(asked.length + (expr.includes('up{') ? 1 : 0)).toBeGreaterThan(0);
  expect(asked.filter(({ metric }) => !families.has(metric))).toEqual([]);
  const labels = new Set(asked.flatMap(({ metric }) => families.get(metric)?.labels ?? []));
  // A counter has no labels before it has counted; docs/operate/metrics.md says which it will have.
  const documented = (label: string): boolean =>
    asked.some(({ metric }) => {
      const row = OPERATIONS.split('\n').find((line) =>
        line.startsWith(`| \`${families.get(metric)?.metric ?? metric}\``),
      );
      return row?.includes(`\`${label}\``) === true;
    });
  const wanted = [...groupedBy(expr), ...asked.flatMap(({ demands }) => demands.map(({ label }) => label))];
  const unknown = wanted.filter(
    (label) => !labels.has(label) && !documented(label) && !OF_PROMETHEUS.has(label),
  );
  expect(unknown).toEqual([]);
  const dead = asked.flatMap(({ metric, demands }) =>
    demands.filter(({ label, operator, value }) => {
      if (operator.includes('~') || OF_PROMETHEUS.has(label)) return false;
      return families.get(metric)?.values.has(`${label}="${value}"`) !== true;
    }),
  );
  expect(dead).toEqual([]);
});

it.each([
  ['a metric that does not exist', 'rate(sotto_commands_count[5m])', 'sotto_commands_count'],
  ['a figure of another name', 'sotto_queue_depth > 1', 'sotto_queue_depth'],
])('would find %s', (_what, expr, metric) => {
  expect(selectorsIn(expr).filter((asked) => !families.has(asked.metric))).toEqual([{ metric, demands: [] }]);
});
