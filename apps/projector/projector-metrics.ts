import type { Pool } from 'pg';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { JournalReader } from '#libs/journal/journal.js';
import { projectionLag } from '#libs/projections/following/lag.js';
import type { ProjectorMeter } from '#libs/projections/projector.js';

const BATCH_SIZES = [1, 4, 16, 64, 256, 512];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** The projector's figures. Lag and positions are those of the projections themselves, whichever process writes them. */
export class ProjectorMetrics implements ProjectorMeter {
  private readonly batches: Histogram<'shard'>;
  private readonly seconds: Histogram<'shard'>;

  constructor(registry: Registry, pool: Pool, reader: JournalReader) {
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
    const position = new Gauge({
      name: 'sotto_projection_position',
      help: 'The last journal record that is projected, by shard',
      labelNames: ['shard'],
      registers: [registry],
    });
    new Gauge({
      name: 'sotto_projection_lag_events',
      help: 'Journal records that are not projected yet, by shard',
      labelNames: ['shard'],
      registers: [registry],
      async collect() {
        for (const row of await projectionLag(pool, reader)) {
          this.set({ shard: row.shard }, row.lag);
          position.set({ shard: row.shard }, row.position);
        }
      },
    });
  }

  applied(shard: number, _position: number, events: number, seconds: number): void {
    if (events === 0) return;
    this.batches.observe({ shard }, events);
    this.seconds.observe({ shard }, seconds);
  }
}
