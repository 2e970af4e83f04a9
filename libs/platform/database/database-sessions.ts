/**
 * How many sessions of the database each process opens at most, given its `DATABASE_POOL`: the logins are bounded by it. What is added
 * where a process makes one more connection is added here, or it finds itself refused when it needs it.
 */

/** Of a gateway: whether a token is still good is not asked behind anything else. */
export const WATCH_SESSIONS = 2;
/** Of an owner: the journal's, the one on which it is asked what became of an append, the lock of writers, the desk of reservations. */
const OWN_OF_OWNER = 4;
/** Of a projector: where the projections are is not asked behind anything else. */
export const LOOK_SESSIONS = 1;

/**
 * For who reads projections beside other work: whoever may write them may lock them, and what waits for them must not keep sessions from
 * what does not need them. Besides the pool.
 */
export function projectionSessions(pool: number): number {
  return Math.ceil(pool / 2);
}

export function sessionsOfOwner(pool: number): number {
  return pool + projectionSessions(pool) + OWN_OF_OWNER;
}

export function sessionsOfGateway(pool: number): number {
  return pool + projectionSessions(pool) + WATCH_SESSIONS;
}

export function sessionsOfProjector(pool: number): number {
  return pool + LOOK_SESSIONS;
}

export function sessionsOfExecutor(pool: number): number {
  return pool;
}
