import type { OracleArchive } from './archive.js';
import type { PlacedEvent } from './raw-events.js';
import { must } from './violation.js';

const IN_TIME = 'quotes go with their stream, and not before';
/** What the client and the gateway see of a loss lies so far apart at most. */
const APART_MILLIS = 100;
/** So soon after its grace a quote has been taken back, where nothing goes wrong. */
const PROMPT_MILLIS = 500;
/** An owner that has begun takes nothing back before all gateways have had time to find it. */
export const LEASE_MILLIS = 2_500;

/** How long a stream has been away, or was until a moment ago; undefined where it was not. */
export type Absence = (account: string, connectionId: string) => number | undefined;

export interface Graces {
  readonly graces: Readonly<Record<string, number>>;
  readonly absence: Absence;
}

/** In a world in which nothing else goes wrong: a quote is withdrawn for a lost stream when that was lost for as long as its maker has said. */
export function mustBeLost(
  { event }: PlacedEvent,
  archive: OracleArchive,
  { graces, absence }: Graces,
): void {
  const { type, data } = event;
  if (type !== 'QUOTE_WITHDRAWN' || data.by !== 'DISCONNECT') return;
  const quote = archive.findQuote(data.quote_id ?? '')?.quote;
  const grace = graces[quote?.maker ?? ''];
  // Its client may not even have heard of the loss.
  if (grace !== undefined && grace <= APART_MILLIS) return;
  const away = absence(quote?.maker ?? '', quote?.connection ?? '');
  must(
    grace !== undefined && away !== undefined && away >= grace - APART_MILLIS,
    IN_TIME,
    () => `quote ${data.quote_id ?? ''} is withdrawn after ${away ?? 0} ms of ${grace ?? Infinity}`,
  );
}

/** A stream that is back. */
export interface Back {
  readonly connectionId: string;
  readonly awayMillis: number;
  readonly graceMillis: number;
  /** For how long a shard's owner has been at work. */
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
      () => `quote ${left?.id ?? ''} of ${id} still stands after ${awayMillis} ms of ${graceMillis}`,
    );
  }
}
