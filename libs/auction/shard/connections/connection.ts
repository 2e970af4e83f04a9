import type { ConnectionClaim, ConnectionEnd } from '../../protocol/protocol.js';

/** A gateway that was silent for this long counts as dead. Times are milliseconds during which the owner ran. */
export const LEASE_MILLIS = 2_500;
/** How long the end of a connection is remembered, for a quote of it that is still in flight. */
const REMEMBERED_MILLIS = 60_000;

export type ConnectionPhase =
  | { readonly is: 'HELD'; readonly gateway: string }
  /** Known from its quotes or from the journal. No gateway has claimed it since this process started. */
  | { readonly is: 'AWAITED'; readonly since: number }
  /** Its socket has ended. Or (`isSilent`) its gateway was silent and may return with the same socket. */
  | { readonly is: 'LOST'; readonly since: number; readonly isSilent: boolean }
  /** The client sent `bye`. */
  | { readonly is: 'LEFT'; readonly since: number };

/** What an owner knows of one stream connection. Immutable. */
export interface Connection {
  readonly account: string;
  /** Number of the latest claim, by which older messages are recognised. 0 before the first claim. */
  readonly attachment: number;
  /** The grace of the latest claim. Undefined if the quotes stay whatever happens to the connection. */
  readonly graceMillis: number | undefined;
  readonly phase: ConnectionPhase;
}

/** A connection that is known only from a quote or from a note in the journal. */
export function awaited(account: string, graceMillis: number | undefined, now: number): Connection {
  return { account, attachment: 0, graceMillis, phase: { is: 'AWAITED', since: now } };
}

/** Applies a gateway's claim. A claim that is older than the latest claim or end changes nothing. */
export function claimed(
  current: Connection | undefined,
  claim: Omit<ConnectionClaim, 'connection_id'>,
  gateway: string,
): Connection {
  if (current !== undefined && !isNews(current, claim)) return current;
  return {
    account: claim.account,
    attachment: claim.attachment,
    graceMillis: claim.grace_ms,
    phase: { is: 'HELD', gateway },
  };
}

function isNews(
  { account, attachment, phase }: Connection,
  claim: Omit<ConnectionClaim, 'connection_id'>,
): boolean {
  if (claim.account !== account) return false;
  const isOver = phase.is === 'LEFT' || (phase.is === 'LOST' && !phase.isSilent);
  return isOver ? claim.attachment > attachment : claim.attachment >= attachment;
}

/** Applies the end of a socket. Only the latest socket counts, and only its first end. */
export function ended(
  current: Connection,
  end: Omit<ConnectionEnd, 'connection_id'>,
  gateway: string,
  now: number,
): Connection {
  const { attachment, phase } = current;
  if (end.attachment < attachment) return current;
  if (end.attachment === attachment) {
    if (phase.is === 'HELD' && phase.gateway !== gateway) return current;
    if (phase.is === 'LEFT' || (phase.is === 'LOST' && !phase.isSilent)) return current;
  }
  const since = phase.is === 'LOST' ? phase.since : now;
  return {
    ...current,
    attachment: end.attachment,
    phase: end.how === 'BYE' ? { is: 'LEFT', since } : { is: 'LOST', since, isSilent: false },
  };
}

/** Its gateway counts as dead, or no longer lists the connection. */
export function silenced(current: Connection, now: number): Connection {
  return current.phase.is === 'HELD'
    ? { ...current, phase: { is: 'LOST', since: now, isSilent: true } }
    : current;
}

/** The grace of its quotes, or undefined if they stay for good. */
export function watchOf({ graceMillis, phase }: Connection): number | undefined {
  return phase.is === 'LEFT' ? undefined : graceMillis;
}

/** When its quotes are to be withdrawn, unless a claim arrives before. */
export function forfeitAt(connection: Connection): number | undefined {
  const { phase } = connection;
  const grace = watchOf(connection);
  return grace === undefined || phase.is === 'HELD' ? undefined : phase.since + grace;
}

/** Whether a connection without quotes may be forgotten. */
export function isForgotten({ phase }: Connection, now: number): boolean {
  return phase.is !== 'HELD' && now - phase.since >= REMEMBERED_MILLIS;
}
