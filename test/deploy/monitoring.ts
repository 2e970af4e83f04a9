import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { ROOT } from './processes.js';

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

export interface ScrapeJob {
  readonly authorization: { readonly credentials_file: string };
  readonly job_name: string;
  readonly metrics_path?: string;
  readonly honor_labels: boolean;
  readonly static_configs: readonly { readonly targets: readonly string[] }[];
}

function text(file: string): string {
  return readFileSync(path.join(ROOT, 'deploy', file), 'utf8');
}

const rules = parse(text('prometheus/alerts.yml')) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};

export const ALERTS = rules.groups.flatMap((group) => group.rules);

interface RuleTest {
  readonly name: string;
  readonly promql_expr_test: readonly { readonly exp_samples: readonly { readonly labels?: string }[] }[];
}

const { tests: STORIES } = parse(text('prometheus/alerts.test.yml')) as {
  readonly tests: readonly RuleTest[];
};

/** The tests in `alerts.test.yml` in which the alert fires. */
export function storiesOf(alert: string): string[] {
  const isTold = ({ labels }: { readonly labels?: string }): boolean => labels === `{alertname="${alert}"}`;
  return STORIES.filter((each) =>
    each.promql_expr_test.some(({ exp_samples }) => exp_samples.some(isTold)),
  ).map(({ name }) => name);
}

export const PANELS = (JSON.parse(text('grafana/sotto.json')) as { readonly panels: readonly Panel[] })
  .panels;

export const SCRAPES = (
  parse(text('prometheus/prometheus.yml')) as { readonly scrape_configs: readonly ScrapeJob[] }
).scrape_configs;

/** The pod monitor of `deploy/kubernetes/monitoring`, for the Prometheus Operator. */
export const POD_MONITOR = parse(text('kubernetes/monitoring/pods.yaml')) as {
  readonly spec: {
    readonly jobLabel: string;
    readonly selector: {
      readonly matchExpressions: readonly { readonly key: string; readonly values: readonly string[] }[];
    };
    readonly podMetricsEndpoints: readonly {
      readonly port: string;
      readonly path: string;
      readonly honorLabels: boolean;
      readonly authorization: { readonly credentials: { readonly name: string; readonly key: string } };
      readonly relabelings: readonly {
        readonly sourceLabels: readonly string[];
        readonly targetLabel: string;
      }[];
    }[];
  };
};

export const RULE_GROUPS = rules.groups;

export const OPERATOR_RULES = parse(text('kubernetes/monitoring/alerts.yaml')) as {
  readonly kind: string;
  readonly spec: unknown;
};

/** Alerts on figures that the processes do not have themselves; they need kube-state-metrics. */
export const JOB_ALERTS = (
  parse(text('kubernetes/monitoring/jobs.yaml')) as {
    readonly spec: { readonly groups: readonly { readonly rules: readonly Alert[] }[] };
  }
).spec.groups.flatMap((group) => group.rules);

/** Every expression in use, with the name of its user. */
export const EXPRESSIONS: readonly (readonly [string, string])[] = [
  ...ALERTS.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...PANELS.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel ${title}`, expr] as const),
  ),
];

/** One metric as an expression selects it. */
export interface Selector {
  readonly metric: string;
  /** The conditions on labels: name, operator and value. */
  readonly demands: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const WORDS = new Set([
  ...[
    'sum',
    'max',
    'min',
    'avg',
    'count',
    'by',
    'without',
    'on',
    'ignoring',
    'group_left',
    'group_right',
    'and',
    'or',
  ],
  ...[
    'unless',
    'rate',
    'increase',
    'changes',
    'abs',
    'absent',
    'histogram_quantile',
    'avg_over_time',
    'min_over_time',
    'max_over_time',
  ],
]);

/** Labels by which an expression groups or joins. */
export function groupedBy(expr: string): string[] {
  return [...expr.matchAll(GROUPING)]
    .flatMap(([, list = '']) => list.split(',').map((label) => label.trim()))
    .filter((label) => label !== '');
}

/** Simple but strict: every word that is not a keyword counts as a metric. */
export function selectorsIn(expr: string): Selector[] {
  const found: Selector[] = [];
  const bare = expr.replaceAll(GROUPING, ' ');
  for (const [, name = '', braces = ''] of bare.matchAll(
    /([a-z_][a-z0-9_]*)\s*(?:\{([^}]*)\})?(?=[^a-z0-9_"]|$)/g,
  )) {
    const before = bare.slice(0, bare.indexOf(name));
    if (WORDS.has(name) || /\[\d*$/.test(before) || /^\d/.test(name)) continue;
    const demands = [...braces.matchAll(/([a-z_]+)(=~|!~|!=|=)"([^"]*)"/g)].map(
      ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
    );
    found.push({ metric: name, demands });
  }
  return found.filter(({ metric }) => metric.includes('_') || metric === 'up');
}

/** For each metric, its growth in a second. */
export type Rates = Readonly<Record<string, number>>;

/** Whether an alert fires that only compares rates of one instance. Prometheus itself is not available here. */
export function isComeTrue(expr: string, rates: Rates): boolean {
  return expr
    .split(/\s+or\s+/)
    .some((either) => either.split(/\s+and\s+/).every((each) => isTrueOf(each, rates)));
}

function isTrueOf(comparison: string, rates: Rates): boolean {
  const [left = '', right = '', ...more] = comparison.split(' > ');
  if (more.length > 0) throw new Error(`${comparison} compares more than once`);
  return productOf(left, rates) > productOf(right, rates);
}

function productOf(factors: string, rates: Rates): number {
  return factors.split(' * ').reduce((product, factor) => product * numberOf(factor, rates), 1);
}

function numberOf(factor: string, rates: Rates): number {
  const metric = /^rate\((\w+)\[\d+m\]\)$/.exec(factor)?.[1];
  const found = metric === undefined ? Number(factor) : rates[metric];
  if (found === undefined || Number.isNaN(found)) throw new Error(`the value of ${factor} is unknown`);
  return found;
}
