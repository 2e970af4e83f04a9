import pg from 'pg';

/** Why a requested session was not available. */
export const REFUSALS = ['too_many', 'denied', 'unreachable'] as const;
export type SessionRefusal = (typeof REFUSALS)[number];

const TOO_MANY_CONNECTIONS = '53300';
/** A wrong password, a login without the right to log in or connect, a database that accepts no sessions or is missing. */
const DENIED = /^(?:28\w{3}|42501|55000|3D000)$/;

const refusals = new Map<SessionRefusal, number>();

/** Counts of this process since its start. */
export function sessionsRefused(reason: SessionRefusal): number {
  return refusals.get(reason) ?? 0;
}

function refusalOf(error: unknown): SessionRefusal {
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return 'unreachable';
  if (error.code === TOO_MANY_CONNECTIONS) return 'too_many';
  return DENIED.test(error.code) ? 'denied' : 'unreachable';
}

function count(error: unknown): void {
  const reason = refusalOf(error);
  refusals.set(reason, sessionsRefused(reason) + 1);
}

/** A session that counts the server's refusals, for all callers. */
export class SessionClient extends pg.Client {
  override connect(): Promise<this>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
    if (callback === undefined) return this.connected();
    super.connect((error: Error | null) => {
      if (error !== null) count(error);
      callback(error);
    });
    return undefined;
  }

  private async connected(): Promise<this> {
    try {
      await super.connect();
      return this;
    } catch (error) {
      count(error);
      throw error;
    }
  }
}
