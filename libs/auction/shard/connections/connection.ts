import type { ConnectionClaim, ConnectionEnd } from '../../protocol/protocol.js';

/** A gateway that was not heard of for so long is taken for dead. Times are milliseconds of the owner's waking time. */
export const LEASE_MILLIS = 2_500;
/** How long it is remembered how a connection ended, for a quote of it that is still on its way. */
const REMEMBERED_MILLIS = 60_000;

export type ConnectionPhase =
  | { readonly is: 'HELD'; readonly gateway: string }
  /** Known by its quotes or from the journal; no gateway has claimed it in this process's life. */
  | { readonly is: 'AWAITED'; readonly since: number }
  /** Its socket has ended, or (`isSilent`) its gateway was not heard of, and may yet come back with the same socket. */
  | { readonly is: 'LOST'; readonly since: number; readonly isSilent: boolean }
  /** It has said `bye`. */
  | { readonly is: 'LEFT'; readonly since: number };

/** What an owner knows of one stream connection; a value. */
export interface Connection {
  readonly account: string;
  /** Of the latest claim, so that what is older can be told; 0 before the first. */
  readonly attachment: number;
  /** What the latest claim asked for; undefined where the quotes stand whatever becomes of the connection. */
  readonly graceMillis: number | undefined;
  readonly standing: ConnectionPhase;
}

/** Nothing but an account's quote, or the journal's note of one, tells of it. */
export function awaited(account: string, graceMillis: number | undefined, now: number): Connection {
  return { account, attachment: 0, graceMillis, standing: { is: 'AWAITED', since: now } };
}

/** The latest claim decides everything; one that an end or a later claim has overtaken decides nothing. */
export function claimed(
  known: Connection | undefined,
  claim: Omit<ConnectionClaim, 'connection_id'>,
  gateway: string,
): Connection {
  if (known !== undefined && !isNews(known, claim)) return known;
  return {
    account: claim.account,
    attachment: claim.attachment,
    graceMillis: claim.grace_ms,
    standing: { is: 'HELD', gateway },
  };
}

function isNews(
  { account, attachment, standing }: Connection,
  claim: Omit<ConnectionClaim, 'connection_id'>,
): boolean {
  if (claim.account !== account) return false;
  const isOver = standing.is === 'LEFT' || (standing.is === 'LOST' && !standing.isSilent);
  return isOver ? claim.attachment > attachment : claim.attachment >= attachment;
}

/** Only the end of the latest socket is the connection's, and only its first end counts. */
export function ended(
  known: Connection,
  end: Omit<ConnectionEnd, 'connection_id'>,
  gateway: string,
  now: number,
): Connection {
  const { attachment, standing } = known;
  if (end.attachment < attachment) return known;
  if (end.attachment === attachment) {
    if (standing.is === 'HELD' && standing.gateway !== gateway) return known;
    if (standing.is === 'LEFT' || (standing.is === 'LOST' && !standing.isSilent)) return known;
  }
  const since = standing.is === 'LOST' ? standing.since : now;
  return {
    ...known,
    attachment: end.attachment,
    standing: end.how === 'BYE' ? { is: 'LEFT', since } : { is: 'LOST', since, isSilent: false },
  };
}

/** Its gateway is taken for dead, or does not count it among its own any more. */
export function silenced(known: Connection, now: number): Connection {
  return known.standing.is === 'HELD'
    ? { ...known, standing: { is: 'LOST', since: now, isSilent: true } }
    : known;
}

/** The grace under which its quotes are watched, or undefined where they stand for good. */
export function watchOf({ graceMillis, standing }: Connection): number | undefined {
  return standing.is === 'LEFT' ? undefined : graceMillis;
}

/** From when on its quotes are withdrawn, unless a claim comes before. */
export function forfeitAt(connection: Connection): number | undefined {
  const { standing } = connection;
  const grace = watchOf(connection);
  return grace === undefined || standing.is === 'HELD' ? undefined : standing.since + grace;
}

/** Without quotes there is no need to know of it any longer. */
export function isForgotten({ standing }: Connection, now: number): boolean {
  return standing.is !== 'HELD' && now - standing.since >= REMEMBERED_MILLIS;
}
