import type { NoticeFormat } from './notices.js';

/** Announces that a journal has reached `head`, so that followers need not wait for their next poll. */
export interface JournalNotice {
  readonly head: number;
  /** The appended events; the last one is at `head`. Missing if they are too large, or if there are none. */
  readonly records?: CommittedRecords;
}

/** Consecutive events that are durable. */
export interface CommittedRecords {
  readonly epoch: number;
  /** Hash of the last event. A follower that knows the hash before the first can check that these come next. */
  readonly hash: string;
  readonly payloads: readonly string[];
}

export interface WrittenJournalNotice {
  readonly head: number;
  readonly records?: {
    readonly epoch: number;
    readonly hash: string;
    readonly count: number;
    /** The payloads as parts of a JSON array. */
    readonly text: string;
  };
}

/** Bound on the payloads that wait for one peer. Past it the peer gets only the head, and reads the journal. */
const MAX_WAITING_CHARS = 1_048_576;

/** Merges notices: only the last head counts. Records are joined while they are consecutive. */
export const journalNotices: NoticeFormat<JournalNotice, WrittenJournalNotice> = {
  write({ head, records }) {
    if (records === undefined) return { head };
    const { epoch, hash, payloads } = records;
    const text = payloads.map((payload) => JSON.stringify(payload)).join(',');
    return { head, records: { epoch, hash, count: payloads.length, text } };
  },

  merge(earlier, { head, records: next }) {
    const { head: before, records: first } = earlier;
    if (first === undefined || next === undefined) return { head };
    const isConsecutive = first.epoch === next.epoch && head - next.count === before;
    if (!isConsecutive || first.text.length + next.text.length > MAX_WAITING_CHARS) return { head };
    const { epoch, hash } = next;
    const [count, text] = [first.count + next.count, `${first.text},${next.text}`];
    return { head, records: { epoch, hash, count, text } };
  },

  forNewcomer: ({ head }) => ({ head }),

  print({ head, records }) {
    if (records === undefined) return [JSON.stringify({ head })];
    const { epoch, hash, text } = records;
    return [JSON.stringify({ head, epoch, hash }), `[${text}]`];
  },

  read(body, payloads) {
    try {
      const parsed: unknown = JSON.parse(body);
      if (!isNotice(parsed)) return undefined;
      const { head, epoch, hash } = parsed;
      if (payloads === undefined) return { head };
      const records = { epoch, hash, payloads };
      return isRecords(records) ? { head, records } : undefined;
    } catch {
      return undefined;
    }
  },
};

function isNotice(value: unknown): value is { head: number; epoch?: unknown; hash?: unknown } {
  return typeof value === 'object' && value !== null && 'head' in value && Number.isSafeInteger(value.head);
}

function isRecords(value: Readonly<Record<keyof CommittedRecords, unknown>>): value is CommittedRecords {
  const { epoch, hash, payloads } = value;
  return (
    Number.isSafeInteger(epoch) &&
    typeof hash === 'string' &&
    Array.isArray(payloads) &&
    payloads.every((payload) => typeof payload === 'string')
  );
}
