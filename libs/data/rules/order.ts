/** The position of an event among others. It does not depend on the order of arrival. */
export interface EventPlace {
  readonly source_ts: number;
  /** The venue's number, or one made from `source_id` if the venue gives none. */
  readonly seq: bigint;
  readonly source_id: string;
}

/** Negative, zero or positive, as `sort` expects. */
export function comparePlaces(left: EventPlace, right: EventPlace): number {
  if (left.source_ts !== right.source_ts) return left.source_ts < right.source_ts ? -1 : 1;
  if (left.seq !== right.seq) return left.seq < right.seq ? -1 : 1;
  return compareTexts(left.source_id, right.source_id);
}

/** The position of events without a number: statuses, resolutions, market states. */
export type EventMoment = Omit<EventPlace, 'seq'>;

export function compareMoments(left: EventMoment, right: EventMoment): number {
  if (left.source_ts !== right.source_ts) return left.source_ts < right.source_ts ? -1 : 1;
  return compareTexts(left.source_id, right.source_id);
}

const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
const BEYOND = 0x2000;

/** Compares by UTF-8 bytes, like PostgreSQL with collation "C". A comparison of UTF-16 code units would differ. */
export function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const difference = rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Surrogates rank after all other code units. */
function rank(codeUnit: number): number {
  if (codeUnit < FIRST_SURROGATE) return codeUnit;
  return codeUnit <= LAST_SURROGATE ? codeUnit + BEYOND : codeUnit - (LAST_SURROGATE - FIRST_SURROGATE + 1);
}
