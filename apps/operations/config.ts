import { defineConfig, type Config } from '#libs/platform/settings/config.js';
import { postgresUrl, type FromText } from '#libs/platform/settings/setting-types.js';
import { z } from 'zod';

/** Fit for a URL as they are, and for SCRAM without any preparation. */
function rolePassword(): FromText<string> {
  return z
    .string()
    .regex(/^[A-Za-z0-9_-]{16,}$/, 'it must have at least 16 letters and digits, and nothing else');
}

function loginOf(role: string) {
  return {
    schema: rolePassword().optional(),
    describe: `Password of the database role of ${role}; without it that role may not log in`,
    secret: true,
  };
}

/** Of the job that brings the database up to date. */
export const migrationConfig = defineConfig({
  DATABASE_URL: {
    schema: postgresUrl(),
    describe: 'The PostgreSQL database of the cluster, as the role that owns it and may make others',
    secret: true,
  },
  DATABASE_PASSWORD_OWNER: loginOf('owners'),
  DATABASE_PASSWORD_GATEWAY: loginOf('gateways'),
  DATABASE_PASSWORD_PROJECTOR: loginOf('projectors'),
  DATABASE_PASSWORD_SETTLER: loginOf('settlers'),
  DATABASE_PASSWORD_OPERATIONS: loginOf('npm run accounts, journal and projection'),
});

export type MigrationConfig = Config<typeof migrationConfig>;
