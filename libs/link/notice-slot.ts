import { NOTICE_ID, type CommittedRecords, type LinkNotice } from '#libs/auction/protocol/protocol.js';

/** Of payloads that wait for one peer. Past it the peer is told of the head alone, and reads the journal. */
const MAX_WAITING_CHARS = 1_048_576;

/** Written once, whoever it is sent to. */
export interface WrittenNotice {
  readonly head: number;
  readonly records?: {
    readonly epoch: number;
    readonly hash: string;
    readonly count: number;
    /** The payloads as parts of a JSON array. */
    readonly text: string;
  };
}

export function written({ head, records }: LinkNotice): WrittenNotice {
  if (records === undefined) return { head };
  const { epoch, hash, payloads } = records;
  const text = payloads.map((payload) => JSON.stringify(payload)).join(',');
  return { head, records: { epoch, hash, count: payloads.length, text } };
}

/** What one peer is still to be told. Of heads only the last counts; records are gathered for as long as they follow one another. */
export class NoticeSlot {
  private waiting: WrittenNotice | undefined;

  get isFilled(): boolean {
    return this.waiting !== undefined;
  }

  put(notice: WrittenNotice): void {
    this.waiting = this.waiting === undefined ? notice : joined(this.waiting, notice);
  }

  /** As an entry of a frame. */
  take(): string | undefined {
    if (this.waiting === undefined) return undefined;
    const { head, records } = this.waiting;
    this.waiting = undefined;
    if (records === undefined) return entryOf({ head }, '');
    const { epoch, hash, text } = records;
    return entryOf({ head, epoch, hash }, `,[${text}]`);
  }
}

function entryOf(said: object, records: string): string {
  return `[${NOTICE_ID},0,${JSON.stringify(JSON.stringify(said))}${records}]`;
}

function joined(before: WrittenNotice, next: WrittenNotice): WrittenNotice {
  const { head } = next;
  const [one, other] = [before.records, next.records];
  if (one === undefined || other === undefined) return { head };
  const follows = one.epoch === other.epoch && head - other.count === before.head;
  if (!follows || one.text.length + other.text.length > MAX_WAITING_CHARS) return { head };
  const { epoch, hash } = other;
  return {
    head,
    records: { epoch, hash, count: one.count + other.count, text: `${one.text},${other.text}` },
  };
}

/** Undefined for what is no notice. */
export function readNotice(body: string, payloads: unknown): LinkNotice | undefined {
  try {
    const said: unknown = JSON.parse(body);
    if (!isNotice(said)) return undefined;
    const { head, epoch, hash } = said;
    if (payloads === undefined) return { head };
    const records = { epoch, hash, payloads };
    return isRecords(records) ? { head, records } : undefined;
  } catch {
    return undefined;
  }
}

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
