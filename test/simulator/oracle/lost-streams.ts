import type { OracleArchive } from './archive.js';
import type { PlacedEvent } from './raw-events.js';
import { must } from './violation.js';

const IN_TIME = 'quotes go with their stream, and not before';
/** The most by which client and gateway differ in when they notice a lost stream. */
const APART_MILLIS = 100;
/** In a world without faults, a quote is withdrawn within this time after its grace. */
const PROMPT_MILLIS = 500;
/** A new owner withdraws nothing until all gateways have had this much time to find it. */
export const LEASE_MILLIS = 2_500;

/** How long a stream has been away, or was until a moment ago; undefined if it was not away. */
export type Absence = (account: string, connectionId: string) => number | undefined;

export interface Graces {
  readonly graces: Readonly<Record<string, number>>;
  readonly absence: Absence;
}

/** In a world without other faults: a quote may be withdrawn for a lost stream only after the grace that its maker set. */
export function mustBeLost(
  { event }: PlacedEvent,
  archive: OracleArchive,
  { graces, absence }: Graces,
): void {
  const { type, data } = event;
  if (type !== 'QUOTE_WITHDRAWN' || data.by !== 'DISCONNECT') return;
  const quote = archive.findQuote(data.quote_id ?? '')?.quote;
  const grace = graces[quote?.maker ?? ''];
  // The client may not even have noticed the loss.
  if (grace !== undefined && grace <= APART_MILLIS) return;
  const away = absence(quote?.maker ?? '', quote?.connection ?? '');
  must(
    grace !== undefined && away !== undefined && away >= grace - APART_MILLIS,
    IN_TIME,
    () => `quote ${data.quote_id ?? ''} is withdrawn after ${away ?? 0} ms of ${grace ?? Infinity}`,
  );
}

/** A stream that has resumed. */
export interface Back {
  readonly connectionId: string;
  readonly awayMillis: number;
  readonly graceMillis: number;
  /** How long a shard's owner has been running. */
  readonly servesFor: (shard: number) => number;
}

export function mustHaveGone(
  archive: OracleArchive,
  { connectionId, awayMillis, graceMillis, servesFor }: Back,
): void {
  if (awayMillis < graceMillis + PROMPT_MILLIS) return;
  for (const { id, shard, stage, terms, quotes } of archive.files.values()) {
    if (stage !== 'OPEN' || terms.quote_revision_policy !== 'FREE') continue;
    if (servesFor(shard) < LEASE_MILLIS + PROMPT_MILLIS) continue;
    const left = [...quotes.values()].find(
      ({ status, connection }) => status === 'ACTIVE' && connection === connectionId,
    );
    must(
      left === undefined,
      IN_TIME,
      () => `quote ${left?.id ?? ''} of ${id} is still active after ${awayMillis} ms of ${graceMillis}`,
    );
  }
}
