/** Where an event stands among others. Arrival never matters, this does. */
export interface EventPlace {
  readonly source_ts: number;
  /** The venue's own, or one that is made from `source_id` where it gives none. */
  readonly seq: bigint;
  readonly source_id: string;
}

/** Negative, zero or positive, as `sort` expects. */
export function comparePlaces(left: EventPlace, right: EventPlace): number {
  if (left.source_ts !== right.source_ts) return left.source_ts < right.source_ts ? -1 : 1;
  if (left.seq !== right.seq) return left.seq < right.seq ? -1 : 1;
  return compareTexts(left.source_id, right.source_id);
}

/** Of events that have no number: statuses, resolutions, states of a market. */
export type EventMoment = Omit<EventPlace, 'seq'>;

export function compareMoments(left: EventMoment, right: EventMoment): number {
  if (left.source_ts !== right.source_ts) return left.source_ts < right.source_ts ? -1 : 1;
  return compareTexts(left.source_id, right.source_id);
}

const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
const BEYOND = 0x2000;

/** As the bytes of UTF-8 compare, which is what Postgres does under collation "C". Units of UTF-16 compare otherwise. */
export function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const difference = rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Halves of characters beyond the first 65,536 come after all others. */
function rank(codeUnit: number): number {
  if (codeUnit < FIRST_SURROGATE) return codeUnit;
  return codeUnit <= LAST_SURROGATE ? codeUnit + BEYOND : codeUnit - (LAST_SURROGATE - FIRST_SURROGATE + 1);
}
