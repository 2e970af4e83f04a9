import { Gauge, Histogram, type Registry } from 'prom-client';
import type { KnownLag, LagMonitor } from '#libs/projecting/following/lag.js';
import type { ProjectorMeter } from '#libs/projecting/projector.js';

const BATCH_SIZES = [1, 4, 16, 64, 256, 512];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

interface Figure {
  readonly name: string;
  readonly help: string;
  /** By shard. */
  readonly values: () => readonly (readonly [string, number])[];
}

interface Watched {
  readonly lag: Pick<LagMonitor, 'known' | 'ages'>;
  readonly nameOf: (shard: number) => string;
}

/** The metrics of a projector. Lag and position describe the projections, whichever process writes them. */
export class ProjectorMetrics {
  private readonly batches: Histogram<'shard'>;
  private readonly seconds: Histogram<'shard'>;
  private readonly watched: Watched[] = [];

  constructor(registry: Registry) {
    this.batches = new Histogram({
      name: 'sotto_projection_batch_events',
      help: 'Journal records that this process projected in one transaction',
      labelNames: ['shard'],
      buckets: BATCH_SIZES,
      registers: [registry],
    });
    this.seconds = new Histogram({
      name: 'sotto_projection_apply_seconds',
      help: 'Duration of one such transaction',
      labelNames: ['shard'],
      buckets: SECONDS,
      registers: [registry],
    });
    gaugeByShard(registry, {
      name: 'sotto_projection_lag_events',
      help: 'Journal records not projected yet, at the last check',
      values: () => this.known(({ lag }) => lag),
    });
    gaugeByShard(registry, {
      name: 'sotto_projection_position',
      help: 'The last projected record, at the last check',
      values: () => this.known(({ position }) => position),
    });
    gaugeByShard(registry, {
      name: 'sotto_projection_age_seconds',
      help: 'Time since the last successful check of lag and position',
      values: () =>
        this.watched.flatMap(({ lag, nameOf }) =>
          lag.ages.map(({ shard, seconds }) => [nameOf(shard), seconds] as const),
        ),
    });
  }

  watch(lag: Watched['lag'], nameOf: Watched['nameOf']): void {
    this.watched.push({ lag, nameOf });
  }

  meterOf(nameOf: Watched['nameOf']): ProjectorMeter {
    return {
      applied: (of, events, seconds) => {
        if (events === 0) return;
        const shard = nameOf(of);
        this.batches.observe({ shard }, events);
        this.seconds.observe({ shard }, seconds);
      },
    };
  }

  private known(value: (known: KnownLag) => number): [string, number][] {
    return this.watched.flatMap(({ lag, nameOf }) =>
      lag.known.map((known): [string, number] => [nameOf(known.shard), value(known)]),
    );
  }
}

/** Read from memory, so that a scrape never waits. */
function gaugeByShard(registry: Registry, { name, help, values }: Figure): void {
  new Gauge({
    name,
    help,
    labelNames: ['shard'],
    registers: [registry],
    collect() {
      for (const [shard, value] of values()) this.set({ shard }, value);
    },
  });
}
