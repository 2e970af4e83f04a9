import type { Pool } from 'pg';
import type { Clock } from '#libs/platform/clock.js';

export interface StorePorts {
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly clock: Clock;
  /** Who this process is to the brokers. */
  readonly instance: string;
  /** Those that there may be. */
  readonly shards: readonly number[];
}
