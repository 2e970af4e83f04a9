import { recordHash } from './hash-chain.js';
import type { JournalEntry, JournalHead } from './journal.js';

/** Consecutive events that a shard's owner says it has committed, the last of them at `head`. */
export interface OfferedEvents {
  readonly head: number;
  readonly epoch: number;
  /** The hash of the last event. */
  readonly hash: string;
  readonly payloads: readonly string[];
}

/** Limits on events that wait for earlier ones. Beyond either, all are dropped: the journal has them. */
const MOST_EVENTS = 4_096;
const MOST_CHARS = 8_388_608;

/**
 * Events that one shard's owner has sent besides writing them, so that followers need not read what has just been written. They
 * are trusted only if the hash chain leads from the last known record to the hash at their end.
 */
export class Offered {
  private waiting: OfferedEvents[] = [];
  private events = 0;
  private chars = 0;

  put(offered: OfferedEvents): void {
    this.waiting.push(offered);
    this.events += offered.payloads.length;
    this.chars += charsOf(offered);
    if (this.events > MOST_EVENTS || this.chars > MOST_CHARS) this.clear();
  }

  clear(): void {
    this.waiting = [];
    this.events = 0;
    this.chars = 0;
  }

  /** The events after the record, if all of them are here. Drops those that can no longer follow. */
  behind(shard: number, { sequence, hash }: Omit<JournalHead, 'epoch'>): JournalEntry[] | undefined {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      const first = next.head - next.payloads.length + 1;
      if (first > sequence + 1) return undefined;
      this.drop(next);
      const entries = first === sequence + 1 ? chained(shard, hash, next) : undefined;
      if (entries !== undefined) return entries;
    }
    return undefined;
  }

  private drop(offered: OfferedEvents): void {
    this.waiting.shift();
    this.events -= offered.payloads.length;
    this.chars -= charsOf(offered);
  }
}

function charsOf({ payloads }: OfferedEvents): number {
  return payloads.reduce((sum, { length }) => sum + length, 0);
}

/** Undefined if the events do not follow the record of that hash. Then the journal has to be read. */
function chained(shard: number, before: string, offered: OfferedEvents): JournalEntry[] | undefined {
  const { head, epoch, payloads } = offered;
  let previousHash = before;
  const entries = payloads.map((payload, index) => {
    const sequence = head - payloads.length + 1 + index;
    const record = { shard, epoch, sequence, kind: 'event', payload, previousHash } as const;
    const entry = { ...record, hash: recordHash(record) };
    previousHash = entry.hash;
    return entry;
  });
  return payloads.length > 0 && previousHash === offered.hash ? entries : undefined;
}
