import { defineConfig } from '../settings/config.js';
import { integer, postgresUrl } from '../settings/setting-types.js';

/** Settings of every process that uses the database. */
export const databaseSettings = defineConfig({
  DATABASE_URL: { schema: postgresUrl(), describe: 'The PostgreSQL database of the cluster', secret: true },
  DATABASE_POOL: {
    schema: integer(1, 200),
    describe: 'Most database connections in the pool of this process; dedicated connections are extra',
    default: '8',
  },
});

/**
 * The size of a separate pool for reading projections. Readers that wait for a writer of projections must not use up the
 * connections of other work.
 */
export function projectionSessions(pool: number): number {
  return Math.ceil(pool / 2);
}
