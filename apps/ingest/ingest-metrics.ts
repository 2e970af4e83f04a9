import { Counter, Gauge, type Registry } from 'prom-client';
import type { DataIngest } from '#libs/data/ingest/data-ingest.js';
import type { Alarm } from '#libs/data/store/alarm-table.js';
import type { IngestProgress } from '#libs/data/store/freshness-table.js';
import { PROVIDERS } from '#libs/data/rules/providers.js';
import type { Clock } from '#libs/platform/time/clock.js';

const KINDS = [
  ...['quarantine', 'gap', 'conflict', 'refused', 'volume_apart', 'candle_apart', 'stale_book'],
] as const satisfies readonly Alarm['kind'][];
const NANOS_PER_MICRO = 1_000n;
const MICROS_PER_SECOND = 1_000_000;

interface Figure {
  readonly name: string;
  readonly help: string;
  readonly of: (progress: IngestProgress) => number;
}

const FIGURES: readonly Figure[] = [
  {
    name: 'sotto_ingest_lag_events',
    help: 'Journal records of market data that are not projected yet',
    of: ({ lagEvents }) => lagEvents,
  },
  {
    name: 'sotto_ingest_gaps',
    help: 'Gaps in the numbers of trades',
    of: ({ gaps }) => gaps,
  },
  {
    name: 'sotto_ingest_conflicts',
    help: 'Events received again with different content, since the first start',
    of: ({ conflicts }) => conflicts,
  },
  {
    name: 'sotto_ingest_quarantined',
    help: 'Response bodies from venues that were not valid, since the first start',
    of: ({ quarantined }) => quarantined,
  },
  {
    name: 'sotto_ingest_failed',
    help: 'Whether the journal of the provider cannot be written',
    of: ({ state }) => Number(state === 'failed'),
  },
  {
    name: 'sotto_ingest_paused',
    help: 'Whether an operator has paused the provider',
    of: ({ state }) => Number(state === 'paused'),
  },
];

export type CountAlarm = (of: string, kind: Alarm['kind'], count: number) => void;

export function measureAlarms(registry: Registry): CountAlarm {
  const alarms = new Counter({
    name: 'sotto_ingest_alarms_total',
    help: 'Alarms of market data, by kind',
    labelNames: ['provider', 'kind'],
    registers: [registry],
  });
  // Every series starts at 0: without that, Prometheus would miss the first increase.
  for (const provider of PROVIDERS) for (const kind of KINDS) alarms.inc({ provider, kind }, 0);
  return (provider, kind, count) => {
    alarms.inc({ provider, kind }, count);
  };
}

/** Values come from memory, so that a scrape never waits for the database. */
export function measureIngest(registry: Registry, ingest: DataIngest, clock: Clock): void {
  for (const { name, help, of } of FIGURES) {
    gaugeByProvider(registry, { name, help }, function* () {
      for (const [provider, progress] of ingest.progress()) yield [provider, of(progress)];
    });
  }
  const age = {
    name: 'sotto_ingest_age_seconds',
    help: 'Age in seconds of the newest data that is applied for a live provider',
  };
  gaugeByProvider(registry, age, function* () {
    const now = Number(clock.epochNanos() / NANOS_PER_MICRO);
    for (const [provider, { isRecorded, asOf }] of ingest.progress())
      if (!isRecorded && asOf !== null) yield [provider, (now - asOf) / MICROS_PER_SECOND];
  });
}

function gaugeByProvider(
  registry: Registry,
  { name, help }: { readonly name: string; readonly help: string },
  values: () => Iterable<readonly [string, number]>,
): void {
  new Gauge({
    name,
    help,
    labelNames: ['provider'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [provider, value] of values()) this.set({ provider }, value);
    },
  });
}
