import type { Pool } from 'pg';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { JournalReader } from '#libs/journal/journal.js';
import { projectionLag, type ShardLag } from '#libs/projections/following/lag.js';
import type { ProjectorMeter } from '#libs/projections/projector.js';

const BATCH_SIZES = [1, 4, 16, 64, 256, 512];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** The projector's figures. Lag and positions are those of the projections themselves, whichever process writes them. */
export class ProjectorMetrics implements ProjectorMeter {
  private readonly batches: Histogram<'shard'>;
  private readonly seconds: Histogram<'shard'>;
  private asked: Promise<readonly ShardLag[]> | undefined;

  constructor(
    registry: Registry,
    private readonly pool: Pool,
    private readonly reader: JournalReader,
  ) {
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
    this.gauge(
      registry,
      'sotto_projection_lag_events',
      'Journal records not projected yet',
      ({ lag }) => lag,
    );
    this.gauge(
      registry,
      'sotto_projection_position',
      'The last projected record',
      ({ position }) => position,
    );
  }

  applied(shard: number, events: number, seconds: number): void {
    if (events === 0) return;
    this.batches.observe({ shard }, events);
    this.seconds.observe({ shard }, seconds);
  }

  private gauge(registry: Registry, name: string, help: string, valueOf: (row: ShardLag) => number): void {
    const lag = (): Promise<readonly ShardLag[]> => this.lag();
    new Gauge({
      name,
      help,
      labelNames: ['shard'],
      registers: [registry],
      async collect() {
        const rows = await lag();
        this.reset();
        for (const row of rows) this.set({ shard: row.shard }, valueOf(row));
      },
    });
  }

  /** Asked once a scrape. Without a database there is no figure, which is no reason to keep the others back. */
  private lag(): Promise<readonly ShardLag[]> {
    this.asked ??= projectionLag(this.pool, this.reader)
      .catch(() => [])
      .finally(() => {
        this.asked = undefined;
      });
    return this.asked;
  }
}
