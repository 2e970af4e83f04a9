import pg from 'pg';

/** Why a requested session was not available. */
export const REFUSALS = ['too_many', 'denied', 'unreachable'] as const;
export type SessionRefusal = (typeof REFUSALS)[number];

const TOO_MANY_CONNECTIONS = '53300';
/** SQLSTATEs: wrong password, missing right to log in or connect, database that is missing or accepts no sessions. */
const DENIED = /^(?:28\w{3}|42501|55000|3D000)$/;

const refusals = new Map<SessionRefusal, number>();

/** How many sessions were refused to this process since its start. */
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

/** A client that counts refused sessions, for all callers. */
export class SessionClient extends pg.Client {
  override connect(): Promise<this>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
    if (callback === undefined) return this.connectAndCount();
    super.connect((error: Error | null) => {
      if (error !== null) count(error);
      callback(error);
    });
    return undefined;
  }

  private async connectAndCount(): Promise<this> {
    try {
      await super.connect();
      return this;
    } catch (error) {
      count(error);
      throw error;
    }
  }
}
