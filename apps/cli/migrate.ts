import { asDatabaseFault } from '#libs/platform/database/database-fault.js';
import { createLogger, type Logger } from '#libs/platform/process/log.js';
import { migrate } from '#libs/platform/database/migrate.js';
import { loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import { asStartFault, EXIT } from '#libs/platform/process/start-fault.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, type RolePasswords } from '#libs/schema/roles/database-roles.js';
import { DATABASE_ROLES } from '#libs/schema/roles/grants.js';
import { program } from './program.js';
import { migrationConfig, passwordSetting, rolePasswords } from './config.js';
import { PrintedLog } from '#libs/platform/terminal/standard-output.js';
import type { CommandArea } from '#libs/platform/terminal/commands.js';
import { tellFault } from '#libs/platform/terminal/tool-faults.js';

const MIGRATE = {
  name: 'migrate',
  commands: [
    {
      name: '',
      operands: [],
      options: {},
      summary: 'migrates the database and grants the processes their rights',
      explanation: [
        'Migrates every schema of the product, once, under a lock. Makes the roles of the processes and grants each its rights.',
        'Logs JSON. Needs DATABASE_URL, as the role that owns the database, and a DATABASE_PASSWORD_* for each role.',
      ],
    },
  ],
  notes: [],
} as const satisfies CommandArea;

/** The migration job, for deployments without a launcher. */
export const migration = program(MIGRATE, async (_call, { environment }) => {
  const config = loadConfigOrExit('migrate', migrationConfig, environment);
  const destination = new PrintedLog();
  const log = createLogger({ name: 'migrate', level: 'info', destination });
  const code = await bringUpToDate(config.DATABASE_URL, passwordsIn(environment), log).catch(
    (error: unknown) => {
      const fault = asStartFault(error) ?? asDatabaseFault(error);
      if (fault === undefined) throw error;
      log.fatal({ exit_code: fault.exitCode }, fault.message);
      return fault.exitCode;
    },
  );
  const { lost } = destination;
  if (lost === undefined) return code;
  tellFault('migrate', [], lost);
  return code === 0 ? lost.exitCode : code;
});

/** Only passwords that are set: a role without one cannot log in. */
function passwordsIn(env: Environment): RolePasswords {
  const settings = loadConfig(rolePasswords, env);
  const passwords = DATABASE_ROLES.map((role) => [role, settings[passwordSetting(role)]] as const);
  return Object.fromEntries(passwords.filter(([, password]) => password !== undefined));
}

/**
 * Changes nothing, rights included, if a newer release migrated the database. Resolves with the exit code.
 */
async function bringUpToDate(url: string, passwords: RolePasswords, log: Logger): Promise<number> {
  const tell = (line: string): void => log.info(line);
  const unknown = await migrate(url, allMigrations, {
    info: (line) => {
      log.info(line);
    },
    tell,
  });
  if (unknown.length > 0) {
    log.warn(
      { migrations: unknown },
      'a newer release has migrated the database, and this one may use it: nothing is changed, passwords included',
    );
    return 0;
  }
  if (await prepareDatabaseRoles(url, passwords, { tell })) {
    log.info({ may_log_in: Object.keys(passwords) }, 'the roles of the processes have their rights');
    return 0;
  }
  if (Object.keys(passwords).length === 0) return 0;
  log.fatal({ exit_code: EXIT.config }, 'the role of DATABASE_URL may not create roles: give it CREATEROLE');
  return EXIT.config;
}
