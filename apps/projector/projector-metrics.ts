import { Gauge, Histogram, type Registry } from 'prom-client';
import type { LagMonitor } from '#libs/projecting/following/lag.js';
import type { ProjectorMeter } from '#libs/projecting/projector.js';

const BATCH_SIZES = [1, 4, 16, 64, 256, 512];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

interface Figure {
  readonly name: string;
  readonly help: string;
  /** By shard. */
  readonly values: () => readonly (readonly [number, number])[];
}

/** The projector's figures. Lag and positions are those of the projections themselves, whichever process writes them. */
export class ProjectorMetrics implements ProjectorMeter {
  private readonly batches: Histogram<'shard'>;
  private readonly seconds: Histogram<'shard'>;

  constructor(registry: Registry, watched: Pick<LagMonitor, 'known' | 'ages'>) {
    this.batches = new Histogram({
      name: 'sotto_projection_batch_events',
      help: 'Journal records that this process has projected in one transaction',
      labelNames: ['shard'],
      buckets: BATCH_SIZES,
      registers: [registry],
    });
    this.seconds = new Histogram({
      name: 'sotto_projection_apply_seconds',
      help: 'How long one such transaction took',
      labelNames: ['shard'],
      buckets: SECONDS,
      registers: [registry],
    });
    gaugeByShard(registry, {
      name: 'sotto_projection_lag_events',
      help: 'Journal records not projected yet, as of the last look',
      values: () => watched.known.map(({ shard, lag }) => [shard, lag]),
    });
    gaugeByShard(registry, {
      name: 'sotto_projection_position',
      help: 'The last projected record, as of the last look',
      values: () => watched.known.map(({ shard, position }) => [shard, position]),
    });
    gaugeByShard(registry, {
      name: 'sotto_projection_age_seconds',
      help: 'How long ago the last look was that could tell lag and position',
      values: () => watched.ages.map(({ shard, seconds }) => [shard, seconds]),
    });
  }

  applied(shard: number, events: number, seconds: number): void {
    if (events === 0) return;
    this.batches.observe({ shard }, events);
    this.seconds.observe({ shard }, seconds);
  }
}

/** Told from memory: a scrape waits for nobody. */
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
