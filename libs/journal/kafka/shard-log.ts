import type { JournalEntry } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { JournalId } from '../journal-id.js';
import { LogCursor, positionAfter, startOf, type LogPosition } from './log-cursor.js';
import { Originals } from './originals.js';
import { decodeRecord } from './record-format.js';
import type { Found, Places, Run, RunBounds } from './shard-run.js';
import {
  MessagesDamaged,
  MessagesDeleted,
  TopicMissing,
  type LogMessage,
  type MacsByIndex,
  type TopicLog,
} from './topic-log.js';

/** What is found where a record was known to stand. `nothing` may be the answer of a broker that has not heard of it yet. */
export type Standing = 'known' | 'other' | 'nothing';

export interface KnownRecord {
  readonly offset: number;
  readonly sequence: number;
  readonly hash: string;
}

/** Of entries that are read to find one of them. */
const PAGE = 2_048;
const MIN_FETCH_BYTES = 64 * 1024;
const MAX_FETCH_BYTES = 2 * 1024 * 1024;
/** More than most records have: a fetch that comes short is followed by another. */
const RECORD_BYTES = 1_024;
/** How far back from the end a record is first looked for that proves its own place; further each time that there is none. */
const LOOK_BACK = 16;
const LOOK_FACTOR = 8;

/**
 * An event as far from its anchor as its sequence says. Everything in between is its writer's own then, one message after the other,
 * for a writer sends nothing before the last batch is settled: nobody can have begun an epoch there, so the event counts.
 */
function isProven({ offset, record: { kind, sequence, anchor } }: Found): boolean {
  return kind === 'event' && anchor !== undefined && offset - anchor.offset === sequence - anchor.sequence;
}

/** Undefined where there is no record: whoever reads on will say so. */
function foundIn(message: LogMessage): Found | undefined {
  const record = decodeRecord(message.value, message.seal);
  return record === undefined ? undefined : { offset: message.offset, record };
}

function follows(before: Found, last: Found): boolean {
  const { record } = before;
  return record.sequence === last.record.sequence - 1 && record.epoch === last.record.epoch;
}

/** The log itself is not as it was written, whoever is asked for it and whenever. */
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

/** Reads one shard's journal out of its topic. It remembers nothing. */
export class ShardLog implements Places {
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

  /** A batch that stands behind a beginning that is gone is part of no journal. */
  async append(values: readonly Buffer[], withinMillis: number, seals: MacsByIndex): Promise<number> {
    return await this.log.append(values, withinMillis, seals).catch((error: unknown) => {
      if (error instanceof MessagesDeleted) throw new JournalCorrupt(this.shard, 1, error.message);
      throw error;
    });
  }

  /** Entries of the journal from a place on, until a bound is reached or damage. Rejects where the topic does not give as much. */
  async run({ from, end, limit = Infinity, ahead = [] }: RunBounds): Promise<Run> {
    const entries: JournalEntry[] = [];
    const cursor = new LogCursor(this.shard, from);
    const originals = new Originals(this.shard, this, from, entries);
    const bytes = Math.min(MAX_FETCH_BYTES, Math.max(MIN_FETCH_BYTES, limit * RECORD_BYTES));
    let messages = ahead;
    let coming = this.behind(ahead, { end, limit, bytes });
    let taken = 0;
    let damage: JournalCorrupt | undefined;
    try {
      while (entries.length < limit && cursor.place.next < end) {
        if (taken === messages.length) {
          messages = await (coming === undefined
            ? this.messages(cursor.place, { bytes, end })
            : this.given(cursor.place, end, coming));
          taken = 0;
          coming = this.behind(messages, { end, limit: limit - entries.length, bytes });
        }
        // By what was taken, not by what messages say of themselves: one that lies is damage, and is not waited behind.
        for (; entries.length < limit && cursor.place.next < end; taken += 1) {
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
    const { place, rival, late, doubled } = cursor;
    return { entries, place, damage, ahead: messages.slice(taken), rival, late, doubled };
  }

  /** What is needed behind these messages, asked for while they are still being looked at. */
  private behind(
    messages: readonly LogMessage[],
    { end, limit, bytes }: { readonly end: number; readonly limit: number; readonly bytes: number },
  ): Promise<readonly LogMessage[]> | undefined {
    const next = (messages.at(-1)?.offset ?? end) + 1;
    if (messages.length >= limit || next >= end) return undefined;
    const coming = this.log.fetch(next, bytes);
    // Where damage is found first, nobody waits for it.
    coming.catch(() => undefined);
    return coming;
  }

  /** Behind the last sound record; all that stands between it and the known one, where there is one, is read and checked. */
  async tail(known?: KnownRecord): Promise<Run> {
    const end = await this.log.end();
    const from = known === undefined ? await this.provenNear(end) : await this.fromKnown(known);
    return await this.run({ from, end });
  }

  /** A place near the end that needs no proof but itself. */
  async provenNear(end: number): Promise<LogPosition> {
    for (let span = LOOK_BACK; ; span *= LOOK_FACTOR) {
      const from = Math.max(0, end - span);
      const place = await this.lastProven(from, end);
      if (place !== undefined) return place;
      if (from === 0) return this.start;
    }
  }

  /** Behind the record before the last one between two offsets that proves its place; the hash of that one says whether it is sound. */
  async lastProven(from: number, end: number): Promise<LogPosition | undefined> {
    let place: LogPosition | undefined;
    let before: Found | undefined;
    let next = from;
    while (next < end) {
      const messages = await this.messages({ ...this.start, next }, { bytes: MIN_FETCH_BYTES, end }).catch(
        unlessCorrupt,
      );
      // Where the damage lies will be said by who reads from a place before it.
      if (messages === undefined) return place;
      for (const message of messages) {
        if (message.offset >= end) return place;
        const found = foundIn(message);
        if (before !== undefined && found !== undefined && isProven(found) && follows(before, found)) {
          place = positionAfter(before.offset, before.record);
        }
        before = found;
        next = message.offset + 1;
      }
    }
    return place;
  }

  /** What the record says by which the epoch of a place's last record began; undefined where there is no record. */
  async beginningOf(place: LogPosition): Promise<string | undefined> {
    const { offset, head } = place;
    if (offset === undefined) return undefined;
    let found = await this.at(offset);
    while (found?.record.kind === 'event') {
      const { anchor } = found.record;
      found = anchor !== undefined && anchor.offset < found.offset ? await this.at(anchor.offset) : undefined;
    }
    if (found?.record.epoch === head.epoch) return found.record.payload.toString();
    return (await this.searched(place))?.payload;
  }

  /** Anchors are hints: where they lead nowhere, everything is read. */
  private async searched({ next: end, head: { epoch } }: LogPosition): Promise<JournalEntry | undefined> {
    for (let from = this.start; from.next < end;) {
      const { entries, place, damage } = await this.run({ from, end, limit: PAGE });
      if (damage !== undefined) throw damage;
      const found = entries.find((entry) => entry.kind === 'epoch' && entry.epoch === epoch);
      if (found !== undefined) return found;
      from = place;
    }
    return undefined;
  }

  /** As they stand there; none where none can be had. */
  standingAt(offset: number, maxBytes: number): Promise<readonly LogMessage[]> {
    return this.log.fetch(offset, maxBytes).catch(unlessUnsound);
  }

  /** Undefined where no record can be had there. */
  async at(offset: number): Promise<Found | undefined> {
    const [message] = await this.standingAt(offset, MIN_FETCH_BYTES);
    return message?.offset === offset ? foundIn(message) : undefined;
  }

  /** Whether the topic still has, where it was read, the record that was read there. Somebody may have deleted it and made it anew. */
  async stillHas({ offset, head: { hash, sequence } }: LogPosition): Promise<boolean> {
    return offset === undefined || (await this.standing({ offset, hash, sequence })) === 'known';
  }

  async standing(known: KnownRecord): Promise<Standing> {
    const found = await this.find(known);
    return typeof found === 'string' ? found : 'known';
  }

  /** The place behind it, if it stands there. */
  async find({ offset, hash, sequence }: KnownRecord): Promise<LogPosition | Exclude<Standing, 'known'>> {
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
    const place = await this.find(known);
    if (typeof place !== 'string') return place;
    throw new Error(`offset ${known.offset} of its topic does not hold the record that was known there`);
  }

  /** From a place on; at least one, for the topic is known to go on to `end`. */
  private messages(
    place: LogPosition,
    { bytes, end }: { readonly bytes: number; readonly end: number },
  ): Promise<readonly LogMessage[]> {
    return this.given(place, end, this.log.fetch(place.next, bytes));
  }

  private async given(
    { next, head }: LogPosition,
    end: number,
    coming: Promise<readonly LogMessage[]>,
  ): Promise<readonly LogMessage[]> {
    const messages = await coming.catch((error: unknown) => {
      if (!isUnsound(error)) throw error;
      throw new JournalCorrupt(this.shard, head.sequence + 1, error.message);
    });
    if (messages.length === 0) throw new Error(`its topic gives nothing at offset ${next}, before ${end}`);
    return messages;
  }
}
