import { loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { sessionsFor, type LoginSessions } from '#libs/schema/roles/login-sessions.js';
import type { LauncherConfig } from './config.js';
import { OWNERS } from './processes.js';

/**
 * What the logins of this cluster may have. Two gateways more than there are, and one process of each other kind more: one that takes
 * another's place may come before the server has noticed that the other has gone.
 */
export function sessionsOf({ GATEWAYS }: Pick<LauncherConfig, 'GATEWAYS'>, env: Environment): LoginSessions {
  const { DATABASE_POOL: pool } = loadConfig({ DATABASE_POOL: databaseSettings.DATABASE_POOL }, env);
  return sessionsFor({ owners: OWNERS + 1, gateways: GATEWAYS + 2, projectors: 2, executors: 2, pool });
}
