import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { SocketControl } from '../client-messages.js';
import type { SocketPoint } from '../resume-point.js';
import type { SocketResumeError } from '../server-messages.js';
import type { SeenSeqs } from '../subscriptions.js';
import { CellAway, type HeldFold } from '../user-folds.js';
import type { SocketPorts } from './socket-ports.js';

export interface SocketGreeting {
  readonly connectionId: string;
  readonly graceMillis: number | undefined;
  /** Absent for a new connection. */
  readonly resumed?: {
    readonly point: SocketPoint;
    readonly seen: SeenSeqs;
    readonly held: HeldFold | undefined;
  };
  readonly error?: SocketResumeError;
}

/** Begins a connection or resumes one. Undefined when it cannot be resumed here at present. */
export async function greet(
  hello: SocketControl<'hello'>,
  account: string,
  ports: SocketPorts,
): Promise<SocketGreeting | undefined> {
  const graceMillis = hello.cancel_on_disconnect?.grace_ms;
  const token = hello.resume_token;
  const now = Number(ports.clock.epochNanos() / NANOS_PER_MILLI);
  const opened = token === undefined ? undefined : ports.tokens.open(token, account, now);
  if (opened?.ok !== true) {
    const begun = { connectionId: ports.newId(), graceMillis };
    return opened === undefined ? begun : { ...begun, error: opened.error };
  }
  const { point } = opened;
  const seen = hello.seen ?? {};
  try {
    const held = point.subscriptions.length > 0 ? await ports.folds.acquire(account) : undefined;
    return { connectionId: point.connectionId, graceMillis, resumed: { point, seen, held } };
  } catch (error) {
    if (error instanceof CellAway) return undefined;
    throw error;
  }
}
