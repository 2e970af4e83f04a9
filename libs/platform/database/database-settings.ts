import { defineConfig } from '../settings/config.js';
import { integer, postgresUrl } from '../settings/setting-types.js';

/** For every process that uses the database. */
export const databaseSettings = defineConfig({
  DATABASE_URL: { schema: postgresUrl(), describe: 'The PostgreSQL database of the cluster', secret: true },
  DATABASE_POOL: {
    schema: integer(1, 200),
    describe: 'Most database connections in the pool of this process; dedicated connections are extra',
    default: '8',
  },
});

/**
 * A separate pool for reading projections. A writer of projections may lock them, and waiting readers must not keep connections
 * from work that does not need projections.
 */
export function projectionSessions(pool: number): number {
  return Math.ceil(pool / 2);
}
