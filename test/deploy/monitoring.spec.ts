import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import {
  ALERTS,
  EXPRESSIONS,
  groupedBy,
  isComeTrue,
  JOB_ALERTS,
  OPERATOR_RULES,
  PANELS,
  POD_MONITOR,
  RULE_GROUPS,
  SCRAPES,
  selectorsIn,
  storiesOf,
} from './monitoring.js';
import { PROCESSES, type ProcessKind } from '#libs/platform/processes/catalogue.js';
import { textOf, textsUnder } from '../docs/markdown.js';
import { kindOf, ROOT } from './processes.js';

const ALERT_PAGES = 'docs/operate/alerts';
const OPERATIONS = textsUnder('docs/operate');
const compose = parse(readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8'), {
  merge: true,
  maxAliasCount: 1_000,
}) as {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>;
};

describe('deploy/prometheus', () => {
  it('scrapes every process of docker-compose.yml where it listens', () => {
    const wanted = Object.entries(compose.services).flatMap(([name, { environment = {} }]) =>
      environment.INTERNAL_PORT === undefined ? [] : [`${kindOf(name)} ${name}:${environment.INTERNAL_PORT}`],
    );
    const scraped = SCRAPES.flatMap(({ job_name: job, static_configs: configs }) =>
      configs.flatMap(({ targets }) => targets.map((target) => `${job} ${target}`)),
    );
    expect(scraped.sort()).toEqual(wanted.sort());
    for (const { honor_labels: honor } of SCRAPES) expect(honor).toBe(true);
  });

  it('names only jobs that it scrapes', () => {
    const jobs = new Set(SCRAPES.map(({ job_name: job }) => job));
    for (const [where, expr] of EXPRESSIONS) {
      const demanded = selectorsIn(expr).flatMap(({ demands }) =>
        demands.filter(({ label }) => label === 'job'),
      );
      const unknown = demanded.flatMap(({ value }) => value.split('|')).filter((job) => !jobs.has(job));
      expect([where, unknown]).toEqual([where, []]);
    }
  });

  it('routes each alert to a receiver, once', () => {
    const all = [...ALERTS, ...JOB_ALERTS];
    expect(ALERTS.length).toBeGreaterThan(20);
    expect(new Set(all.map(({ alert }) => alert)).size).toBe(all.length);
    for (const { labels, annotations } of all) {
      expect(labels.severity).toMatch(/^(page|ticket)$/);
      expect(annotations.summary).not.toBe('');
    }
  });

  /** Only `promtool test rules` can check the results, and it is not installed everywhere. */
  it('has a test in which each alert fires', () => {
    expect(ALERTS.filter(({ alert }) => storiesOf(alert).length === 0)).toEqual([]);
  });

  it('uses in summaries only labels that the expression keeps', () => {
    for (const { alert, expr, annotations } of ALERTS) {
      const told = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
      const outermost = /^(?:sum|count|max)\s*(?:by\s*\(([^)]*)\))?\s*\(/.exec(expr);
      if (outermost === null) continue;
      const left = (outermost[1] ?? '').split(',').map((label) => label.trim());
      const joined = groupedBy(expr).length > 0 && expr.includes('group_right');
      expect([alert, joined ? [] : told.filter((label) => !left.includes(label))]).toEqual([alert, []]);
    }
  });

  it('has a page in docs/operate/alerts for every alert, and no others', () => {
    const pages = readdirSync(path.join(ROOT, ALERT_PAGES)).filter((name) => name !== 'README.md');
    const alerts = [...ALERTS, ...JOB_ALERTS];
    expect(pages.sort()).toEqual(alerts.map(({ alert }) => `${alert}.md`).sort());
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook).toBe(`${ALERT_PAGES}/${alert}.md`);
      const page = textOf(annotations.runbook);
      const form = /^# (\w+)\n\n## What it means\n([^]+)\n## What to do\n([^]+)$/;
      const [, title, means = '', todo = ''] = form.exec(page) ?? [];
      expect(title).toBe(alert);
      expect(means.trim().length).toBeGreaterThan(20);
      expect(todo.trim().length).toBeGreaterThan(40);
    }
  });
});

/** Aborts and commits a second of one owner. */
describe('the alert ReservationsContend', () => {
  const comesWith = (aborts: number, commits: number): boolean =>
    isComeTrue(ALERTS.find(({ alert }) => alert === 'ReservationsContend')?.expr ?? '', {
      sotto_reservation_aborts_total: aborts,
      sotto_reservation_commits_total: commits,
    });

  it.each([
    ['a transaction holds risk.reserved', 1.71, 0],
    ['a transaction holds it, and few others wait', 0.3, 0],
    ['shards abort each other', 40, 5],
  ])('fires if %s', (_, aborts, commits) => {
    expect(comesWith(aborts, commits)).toBe(true);
  });

  it.each([
    ['there is no trading', 0, 0],
    ['one transaction in twenty is tried again', 0.05 * 3_000, 3_000],
    ['few trade, and one transaction in two is tried again', 1, 2],
  ])('does not fire if %s', (_, aborts, commits) => {
    expect(comesWith(aborts, commits)).toBe(false);
  });
});

describe('deploy/kubernetes/monitoring', () => {
  it('scrapes every kind of process under the jobs and names in the alerts, with a token from the secret', () => {
    const { jobLabel, selector, podMetricsEndpoints } = POD_MONITOR.spec;
    const [kinds] = selector.matchExpressions;
    expect([jobLabel, kinds?.key]).toEqual(['app', 'app']);
    const pods = SCRAPES.map(({ job_name: job }) =>
      PROCESSES.find(({ name }: ProcessKind) => name === job),
    ).map((kind?: ProcessKind) => kind?.podOf ?? kind?.name);
    expect([...(kinds?.values ?? [])].sort()).toEqual([...new Set(pods)].sort());
    expect(podMetricsEndpoints).toMatchObject([
      {
        port: 'internal',
        honorLabels: true,
        authorization: { credentials: { name: 'sotto-secrets', key: 'metrics-token' } },
        relabelings: [{ sourceLabels: ['__meta_kubernetes_pod_name'], targetLabel: 'instance' }],
      },
      {
        port: 'signer',
        honorLabels: true,
        authorization: { credentials: { name: 'sotto-secrets', key: 'metrics-token' } },
        relabelings: [
          { targetLabel: 'job', replacement: 'signer' },
          { targetLabel: 'instance', replacement: 'signer' },
        ],
      },
    ]);
    expect(OPERATIONS).toContain('`metrics-token`');
  });

  it('names only existing jobs', () => {
    const manifest = readFileSync(path.join(ROOT, 'deploy/kubernetes/journal.yaml'), 'utf8');
    const { kind, metadata } = parse(manifest) as {
      readonly kind: string;
      readonly metadata: { readonly name: string; readonly namespace: string };
    };
    expect(kind).toBe('CronJob');
    for (const { expr } of JOB_ALERTS) {
      const demands = selectorsIn(expr).flatMap(({ demands: each }) => each);
      const asked = (label: string): string[] => [
        ...new Set(demands.filter((each) => each.label === label).map(({ value }) => value)),
      ];
      expect(asked('namespace')).toEqual([metadata.namespace]);
      expect([...asked('job_name'), ...asked('cronjob')]).toEqual([
        expect.stringMatching(new RegExp(`^${metadata.name}(-\\.\\+)?$`)),
      ]);
    }
  });

  it('has the alerts of deploy/prometheus, word for word', () => {
    expect(OPERATOR_RULES).toMatchObject({ kind: 'PrometheusRule', spec: { groups: RULE_GROUPS } });
  });
});

describe('the dashboard', () => {
  it('has panels with unique ids and positions', () => {
    expect(new Set(PANELS.map(({ id }) => id)).size).toBe(PANELS.length);
    const places = PANELS.map(({ gridPos: { x, y } }) => `${x} ${y}`);
    expect(new Set(places).size).toBe(PANELS.length);
    for (const { gridPos } of PANELS) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it('uses in legends only labels that the expression keeps', () => {
    for (const { title, targets = [] } of PANELS) {
      for (const { expr, legendFormat } of targets) {
        const told = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
        const outermost = /^(?:histogram_quantile\([\d.]+, )?(?:sum|max) by \(([^)]*)\)/.exec(expr);
        if (outermost === null || expr.includes('group_right')) continue;
        const left = (outermost[1] ?? '').split(',').map((label) => label.trim());
        expect([title, told.filter((label) => !left.includes(label))]).toEqual([title, []]);
      }
    }
  });
});

describe('the reader of expressions', () => {
  it('finds metrics and the conditions on their labels, and nothing else', () => {
    const expr =
      'histogram_quantile(0.99, sum by (instance, le) (rate(a_seconds_bucket{operation!="login"}[5m]))) > 1 and up{job="x"} == 0 - on (shard) group_right () b_total';
    expect(selectorsIn(expr)).toEqual([
      { metric: 'a_seconds_bucket', demands: [{ label: 'operation', operator: '!=', value: 'login' }] },
      { metric: 'up', demands: [{ label: 'job', operator: '=', value: 'x' }] },
      { metric: 'b_total', demands: [] },
    ]);
    expect(groupedBy(expr)).toEqual(['instance', 'le', 'shard']);
  });
});
