import pg from 'pg';
import { isCodedError } from '../process/start-fault.js';

/** Why a session that was asked for was not had. */
export const REFUSALS = ['too_many', 'denied', 'unreachable'] as const;
export type Refusal = (typeof REFUSALS)[number];

const TOO_MANY_CONNECTIONS = '53300';
/** Invalid authorization: a password that is no more, or a login that may not log in. */
const DENIED = /^28\w{3}$/;

const refusals = new Map<Refusal, number>();

/** Of this process, since its start. */
export function sessionsRefused(reason: Refusal): number {
  return refusals.get(reason) ?? 0;
}

function refusalOf(error: unknown): Refusal {
  const code = isCodedError(error) ? error.code : '';
  if (code === TOO_MANY_CONNECTIONS) return 'too_many';
  return DENIED.test(code) ? 'denied' : 'unreachable';
}

function count(error: unknown): void {
  const reason = refusalOf(error);
  refusals.set(reason, sessionsRefused(reason) + 1);
}

/** A session as any other; where the server does not let it in, that is counted, whoever asked for it and whatever becomes of his work. */
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
