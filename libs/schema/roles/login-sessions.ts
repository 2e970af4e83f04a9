import {
  sessionsOfExecutor,
  sessionsOfGateway,
  sessionsOfOwner,
  sessionsOfProjector,
} from '#libs/platform/database/database-sessions.js';
import { DATABASE_ROLES, type DatabaseRole } from './grants.js';

/** How many sessions each login may have at once. */
export type LoginSessions = Readonly<Record<DatabaseRole, number>>;

/** Processes of each kind that are there at once, those included that take the place of others in a rolling restart. */
export interface Processes {
  readonly owners: number;
  readonly gateways: number;
  readonly projectors: number;
  readonly executors: number;
  /** `DATABASE_POOL` of each. */
  readonly pool: number;
}

export const USUAL_PROCESSES: Processes = { owners: 4, gateways: 4, projectors: 3, executors: 3, pool: 8 };

/** Two tools at a time, of which `journal` has the most. */
const OF_OPERATIONS = 12;
/** Of who owns the tables, and whom nothing bounds: the launcher has two, a migration three, `projection` and `backup` up to nine. */
const OF_TABLE_OWNER = 14;

export function sessionsFor({ owners, gateways, projectors, executors, pool }: Processes): LoginSessions {
  return {
    owner: owners * sessionsOfOwner(pool),
    gateway: gateways * sessionsOfGateway(pool),
    projector: projectors * sessionsOfProjector(pool),
    executor: executors * sessionsOfExecutor(pool),
    operations: OF_OPERATIONS,
  };
}

export const USUAL_SESSIONS = sessionsFor(USUAL_PROCESSES);

/** What a server must have room for, so that each login finds its sessions while all others have all of theirs. */
export function sessionsOfAll(sessions: LoginSessions): number {
  return DATABASE_ROLES.reduce((sum, role) => sum + sessions[role], OF_TABLE_OWNER);
}
