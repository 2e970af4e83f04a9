import { NANOS_PER_MICRO, NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { SocketControl } from '../client-messages.js';
import type { SocketPoint } from '../resume-point.js';
import type { SocketResumeError } from '../server-messages.js';
import type { SeenSeqs } from '../subscriptions.js';
import { CellAway, type HeldFold } from '../user-folds.js';
import type { SocketPorts } from './socket-ports.js';

export interface SocketGreeting {
  readonly connectionId: string;
  /** If two sockets resume the same connection, the one with the higher number owns it, at any gateway. */
  readonly attachment: number;
  readonly graceMillis: number | undefined;
  /** Absent for a new connection. */
  readonly resumed?: {
    readonly point: SocketPoint;
    readonly seen: SeenSeqs;
    readonly held: HeldFold | undefined;
  };
  readonly error?: SocketResumeError;
}

/** Begins or resumes a connection. Undefined if it cannot be resumed here at present. */
export async function greet(
  hello: SocketControl<'hello'>,
  account: string,
  ports: SocketPorts,
): Promise<SocketGreeting | undefined> {
  const graceMillis = hello.cancel_on_disconnect?.grace_ms;
  const token = hello.resume_token;
  const now = ports.clock.epochNanos();
  const attachment = Number(now / NANOS_PER_MICRO);
  const opened =
    token === undefined ? undefined : ports.tokens.open(token, account, Number(now / NANOS_PER_MILLI));
  if (opened?.ok !== true) {
    const begun = { connectionId: ports.newId(), attachment, graceMillis };
    return opened === undefined ? begun : { ...begun, error: opened.error };
  }
  const { point } = opened;
  const seen = hello.seen ?? {};
  try {
    const held = point.subscriptions.length > 0 ? await ports.folds.acquire(account) : undefined;
    return {
      connectionId: point.connectionId,
      // Higher than the former number, even if the clocks of the gateways differ.
      attachment: Math.max(attachment, point.attachment + 1),
      graceMillis,
      resumed: { point, seen, held },
    };
  } catch (error) {
    if (error instanceof CellAway) return undefined;
    throw error;
  }
}
