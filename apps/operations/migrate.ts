import { asDatabaseFault } from '#libs/platform/database/database-fault.js';
import { createLogger } from '#libs/platform/process/log.js';
import { migrate } from '#libs/platform/database/migrate.js';
import { loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import { asStartFault, EXIT } from '#libs/platform/process/start-fault.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, type RolePasswords } from '#libs/schema/roles/database-roles.js';
import { DATABASE_ROLES } from '#libs/schema/roles/grants.js';
import { migrationConfig, passwordSetting, rolePasswords } from './config.js';
import { PrintedLog } from '#libs/platform/terminal/standard-output.js';
import { tellFault } from '#libs/platform/terminal/tool-faults.js';

/** Only those that are set: a role without a password may not log in. */
function passwordsIn(env: Environment): RolePasswords {
  const settings = loadConfig(rolePasswords, env);
  const passwords = DATABASE_ROLES.map((role) => [role, settings[passwordSetting(role)]] as const);
  return Object.fromEntries(passwords.filter(([, password]) => password !== undefined));
}

/**
 * Brings every schema of the product up to date, once, under a lock, and gives each process the rights that it needs; a job of its own
 * where no launcher does it. What a newer release has brought further is left to it, rights included. Resolves with the exit code.
 */
async function bringUpToDate(): Promise<number> {
  const tell = (line: string): void => log.info(line);
  const unknown = await migrate(config.DATABASE_URL, allMigrations, {
    info: (line) => {
      log.info(line);
    },
    tell,
  });
  if (unknown.length > 0) {
    log.warn(
      { migrations: unknown },
      'a newer release has brought the database up to date, and this one may use it: nothing is changed, no password either',
    );
    return 0;
  }
  const passwords = passwordsIn(process.env);
  if (await prepareDatabaseRoles(config.DATABASE_URL, passwords, { tell })) {
    log.info({ may_log_in: Object.keys(passwords) }, 'the roles of the processes have their rights');
    return 0;
  }
  if (Object.keys(passwords).length === 0) return 0;
  log.fatal({ exit_code: EXIT.config }, 'the role of DATABASE_URL may make no others: give it CREATEROLE');
  return EXIT.config;
}

const config = loadConfigOrExit('migrate', migrationConfig, process.env);
const destination = new PrintedLog();
const log = createLogger({ name: 'migrate', level: 'info', destination });
try {
  process.exitCode = await bringUpToDate();
} catch (error) {
  const fault = asStartFault(error) ?? asDatabaseFault(error);
  if (fault === undefined) throw error;
  log.fatal({ exit_code: fault.exitCode }, fault.message);
  process.exitCode = fault.exitCode;
}
const { lost } = destination;
if (lost !== undefined) {
  tellFault('migrate', [], lost);
  if (process.exitCode === 0) process.exitCode = lost.exitCode;
}
