import { z } from 'zod';
import { defineConfig, type Setting } from '#libs/platform/settings/config.js';
import { postgresUrl, type FromText } from '#libs/platform/settings/setting-types.js';
import { DATABASE_ROLES } from '#libs/schema/roles/grants.js';

/** Characters that need no escaping in a URL and no preparation for SCRAM. */
function rolePassword(): FromText<string> {
  return z
    .string()
    .regex(/^[A-Za-z0-9_-]{16,}$/, 'it must have at least 16 characters: letters, digits, - and _');
}

type PasswordSetting = Setting<z.ZodOptional<FromText<string>>>;

export function passwordSetting(role: string): string {
  return `DATABASE_PASSWORD_${role.toUpperCase()}`;
}

/** One setting for each role that processes and tools log in with. */
export function passwordSettings(roles: readonly string[]): Record<string, PasswordSetting> {
  const settings = roles.map((role) => {
    const users = role === 'operations' ? ' (npm run accounts, journal and projection)' : '';
    const setting = {
      schema: rolePassword().optional(),
      describe: `Password of the database role ${role}${users}; without it the role cannot log in`,
      secret: true,
    };
    return [passwordSetting(role), setting] as const;
  });
  return Object.fromEntries(settings);
}

const database = {
  DATABASE_URL: {
    schema: postgresUrl(),
    describe: 'The PostgreSQL database of the cluster, with the role that owns it and may create roles',
    secret: true,
  },
};

export const rolePasswords = passwordSettings(DATABASE_ROLES);

/** Settings of the migration job. */
export const migrationConfig = defineConfig({ ...database, ...rolePasswords });
