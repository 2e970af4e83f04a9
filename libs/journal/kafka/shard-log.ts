import type { JournalEntry } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { JournalId } from '../journal-id.js';
import { LogCursor, positionAfter, startOf, type LogPosition } from './log-cursor.js';
import { DuplicateResolver } from './duplicate-resolver.js';
import { decodeRecord } from './record-format.js';
import type { Found, ShardTopic, Run, RunBounds } from './shard-run.js';
import {
  MessagesDamaged,
  MessagesDeleted,
  TopicMissing,
  type LogMessage,
  type MacsByIndex,
  type TopicLog,
} from './topic-log.js';

/** What is found at a record's known position. `nothing` may come from a broker that does not know it yet. */
export type KnownRecordState = 'known' | 'other' | 'nothing';

export interface KnownRecord {
  readonly offset: number;
  readonly sequence: number;
  readonly hash: string;
}

/** The number of entries that are read to find one of them. */
const PAGE = 2_048;
const MIN_FETCH_BYTES = 64 * 1024;
const MAX_FETCH_BYTES = 2 * 1024 * 1024;
/** More than most records have: a fetch that comes short is followed by another. */
const RECORD_BYTES = 1_024;
/** How far back from the end the search for a record that proves its own position begins. It goes further back each time. */
const LOOK_BACK = 16;
const LOOK_FACTOR = 8;

/**
 * Whether an event is as far from its anchor as its sequence says. Then everything in between is its writer's own: a writer sends
 * nothing before its last batch is settled. So no epoch can have begun in between, and the event counts.
 */
function isProven({ offset, record: { kind, sequence, anchor } }: Found): boolean {
  return kind === 'event' && anchor !== undefined && offset - anchor.offset === sequence - anchor.sequence;
}

/** Undefined if the message holds no record. A later read reports that. */
function foundIn(message: LogMessage): Found | undefined {
  const record = decodeRecord(message.value, message.seal);
  return record === undefined ? undefined : { offset: message.offset, record };
}

function follows(before: Found, last: Found): boolean {
  const { record } = before;
  return record.sequence === last.record.sequence - 1 && record.epoch === last.record.epoch;
}

/** The log itself is damaged, so a retry does not help. */
function isUnsound(error: unknown): error is MessagesDeleted | MessagesDamaged {
  return error instanceof MessagesDeleted || error instanceof MessagesDamaged;
}

function unlessUnsound(error: unknown): readonly LogMessage[] {
  if (isUnsound(error)) return [];
  throw error;
}

function unlessCorrupt(error: unknown): undefined {
  if (!(error instanceof JournalCorrupt)) throw error;
}

/** Reads one shard's journal from its topic. Keeps no state. */
export class ShardLog implements ShardTopic {
  readonly shard: number;
  readonly start: LogPosition;

  constructor(
    { family, shard }: JournalId,
    private readonly log: TopicLog,
  ) {
    this.shard = shard;
    this.start = startOf(family);
  }

  end(): Promise<number> {
    return this.log.end();
  }

  /** Rejects if the topic's first messages are gone: the batch is then part of no journal. */
  async append(values: readonly Buffer[], withinMillis: number, seals: MacsByIndex): Promise<number> {
    return await this.log.append(values, withinMillis, seals).catch((error: unknown) => {
      if (error instanceof MessagesDeleted) throw new JournalCorrupt(this.shard, 1, error.message);
      throw error;
    });
  }

  /** Entries from a position on, up to a bound or to damage. Rejects if the topic returns less than claimed. */
  async run({ from, end, limit = Infinity, ahead = [] }: RunBounds): Promise<Run> {
    const entries: JournalEntry[] = [];
    const cursor = new LogCursor(this.shard, from);
    const originals = new DuplicateResolver(this.shard, this, from, entries);
    const bytes = Math.min(MAX_FETCH_BYTES, Math.max(MIN_FETCH_BYTES, limit * RECORD_BYTES));
    let messages = ahead;
    let fetching = this.fetchAhead(ahead, { end, limit, bytes });
    let taken = 0;
    let damage: JournalCorrupt | undefined;
    try {
      while (entries.length < limit && cursor.position.next < end) {
        if (taken === messages.length) {
          messages = await (fetching === undefined
            ? this.messages(cursor.position, { bytes, end })
            : this.received(cursor.position, end, fetching));
          taken = 0;
          fetching = this.fetchAhead(messages, { end, limit: limit - entries.length, bytes });
        }
        // Counts messages that were taken, not those that are claimed: a false claim is damage and must not be waited for.
        for (; entries.length < limit && cursor.position.next < end; taken += 1) {
          const message = messages[taken];
          if (message === undefined) break;
          const entry = cursor.take(message);
          if (entry !== undefined) entries.push(entry);
          else if (cursor.claimed !== undefined) cursor.pass(await originals.of(cursor.claimed));
        }
      }
    } catch (error) {
      if (!(error instanceof JournalCorrupt)) throw error;
      damage = error;
    }
    const { position, rival, late, doubled } = cursor;
    return { entries, position, damage, ahead: messages.slice(taken), rival, late, doubled };
  }

  /** Fetches the next messages while these are still being read. */
  private fetchAhead(
    messages: readonly LogMessage[],
    { end, limit, bytes }: { readonly end: number; readonly limit: number; readonly bytes: number },
  ): Promise<readonly LogMessage[]> | undefined {
    const next = (messages.at(-1)?.offset ?? end) + 1;
    if (messages.length >= limit || next >= end) return undefined;
    const fetching = this.log.fetch(next, bytes);
    // Not awaited if damage is found first.
    fetching.catch(() => undefined);
    return fetching;
  }

  /** The position after the last sound record. Everything since the known record, if there is one, is read and checked. */
  async tail(known?: KnownRecord): Promise<Run> {
    const end = await this.log.end();
    const from = known === undefined ? await this.provenNear(end) : await this.fromKnown(known);
    return await this.run({ from, end });
  }

  /** A position near the end that proves itself. */
  async provenNear(end: number): Promise<LogPosition> {
    for (let span = LOOK_BACK; ; span *= LOOK_FACTOR) {
      const from = Math.max(0, end - span);
      const position = await this.lastProven(from, end);
      if (position !== undefined) return position;
      if (from === 0) return this.start;
    }
  }

  /**
   * The position before the last record between two offsets that proves its own position. Reading that record checks its hash.
   */
  async lastProven(from: number, end: number): Promise<LogPosition | undefined> {
    let position: LogPosition | undefined;
    let before: Found | undefined;
    let next = from;
    while (next < end) {
      const messages = await this.messages({ ...this.start, next }, { bytes: MIN_FETCH_BYTES, end }).catch(
        unlessCorrupt,
      );
      // A reader from a position before the damage reports it.
      if (messages === undefined) return position;
      for (const message of messages) {
        if (message.offset >= end) return position;
        const found = foundIn(message);
        if (before !== undefined && found !== undefined && isProven(found) && follows(before, found)) {
          position = positionAfter(before.offset, before.record);
        }
        before = found;
        next = message.offset + 1;
      }
    }
    return position;
  }

  /** The payload of the record that began the epoch of a position's head; undefined if there is no record. */
  async beginningOf(position: LogPosition): Promise<string | undefined> {
    const { offset, head } = position;
    if (offset === undefined) return undefined;
    let found = await this.at(offset);
    while (found?.record.kind === 'event') {
      const { anchor } = found.record;
      found = anchor !== undefined && anchor.offset < found.offset ? await this.at(anchor.offset) : undefined;
    }
    if (found?.record.epoch === head.epoch) return found.record.payload.toString();
    return (await this.searched(position))?.payload;
  }

  /** Anchors are only hints. If they lead nowhere, the whole topic is read. */
  private async searched({ next: end, head: { epoch } }: LogPosition): Promise<JournalEntry | undefined> {
    for (let from = this.start; from.next < end;) {
      const { entries, position, damage } = await this.run({ from, end, limit: PAGE });
      if (damage !== undefined) throw damage;
      const found = entries.find((entry) => entry.kind === 'epoch' && entry.epoch === epoch);
      if (found !== undefined) return found;
      from = position;
    }
    return undefined;
  }

  /** The stored messages, unchecked; empty if none can be read. */
  standingAt(offset: number, maxBytes: number): Promise<readonly LogMessage[]> {
    return this.log.fetch(offset, maxBytes).catch(unlessUnsound);
  }

  /** Undefined if no record can be read there. */
  async at(offset: number): Promise<Found | undefined> {
    const [message] = await this.standingAt(offset, MIN_FETCH_BYTES);
    return message?.offset === offset ? foundIn(message) : undefined;
  }

  /** Whether the topic still has the record at its offset. The topic may have been deleted and recreated. */
  async stillHas({ offset, head: { hash, sequence } }: LogPosition): Promise<boolean> {
    return offset === undefined || (await this.standing({ offset, hash, sequence })) === 'known';
  }

  async standing(known: KnownRecord): Promise<KnownRecordState> {
    const found = await this.find(known);
    return typeof found === 'string' ? found : 'known';
  }

  /** The position after the record, if it is there. */
  async find({
    offset,
    hash,
    sequence,
  }: KnownRecord): Promise<LogPosition | Exclude<KnownRecordState, 'known'>> {
    try {
      const [message] = await this.log.fetch(offset, MIN_FETCH_BYTES);
      if (message === undefined) return 'nothing';
      if (message.offset !== offset) return 'other';
      const found = foundIn(message);
      if (found !== undefined)
        return found.record.hash === hash ? positionAfter(offset, found.record) : 'other';
      throw new JournalCorrupt(
        this.shard,
        sequence,
        `offset ${offset} of its topic holds no record any more`,
      );
    } catch (error) {
      if (error instanceof TopicMissing) return 'nothing';
      if (isUnsound(error)) throw new JournalCorrupt(this.shard, sequence, error.message);
      throw error;
    }
  }

  private async fromKnown(known: KnownRecord): Promise<LogPosition> {
    const position = await this.find(known);
    if (typeof position !== 'string') return position;
    throw new Error(`offset ${known.offset} of its topic does not hold the record that was known there`);
  }

  /** Messages from a position on; at least one, because the topic is known to reach `end`. */
  private messages(
    position: LogPosition,
    { bytes, end }: { readonly bytes: number; readonly end: number },
  ): Promise<readonly LogMessage[]> {
    return this.received(position, end, this.log.fetch(position.next, bytes));
  }

  private async received(
    { next, head }: LogPosition,
    end: number,
    fetching: Promise<readonly LogMessage[]>,
  ): Promise<readonly LogMessage[]> {
    const messages = await fetching.catch((error: unknown) => {
      if (!isUnsound(error)) throw error;
      throw new JournalCorrupt(this.shard, head.sequence + 1, error.message);
    });
    if (messages.length === 0) throw new Error(`its topic returns nothing at offset ${next}, before ${end}`);
    return messages;
  }
}
