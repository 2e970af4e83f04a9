import { expect } from '@jest/globals';
import { JournalAmbiguous, JournalFailure, JournalUnavailable } from '../../journal/journal-errors.js';
import type { JournalEntry, JournalWriter } from '../../journal/journal.js';
import { KafkaJournal } from '../../journal/kafka/kafka-journal.js';
import { KafkaJournalReader } from '../../journal/kafka/kafka-reader.js';
import { everything } from '../contracts/journal-subject.js';
import { HastyClock } from './hasty-clock.js';
import { MemoryTopic } from './memory-topic.js';

export const SHARD = 0;
const SETTLE_MILLIS = 300;

/** Several processes on one topic. Checks the replies to their callers against the records that a reader finds. */
export class JournalWorld {
  readonly topic = new MemoryTopic();
  readonly clock = new HastyClock();
  private readonly writers: JournalWriter[] = [];
  private readonly told = { written: [] as string[], denied: [] as string[], doubtful: [] as string[] };
  private count = 0;

  reader(): KafkaJournalReader {
    return new KafkaJournalReader({ family: 'auction', openLog: () => this.topic.open(), shards: [SHARD] });
  }

  async open(settleWithinMillis = SETTLE_MILLIS): Promise<JournalWriter> {
    const journal = new KafkaJournal({
      family: 'auction',
      openLog: () => Promise.resolve(this.topic.open()),
      clock: this.clock,
      // All have the same name, because nothing may depend on it.
      opener: 'owner-0',
      settleWithinMillis,
    });
    const writer = await journal.open(SHARD);
    this.writers.push(writer);
    return writer;
  }

  /** Opens a writer, which may fail like any other. */
  async tryToOpen(): Promise<void> {
    await this.open().catch((error: unknown) => {
      if (!(error instanceof JournalUnavailable)) throw error;
    });
  }

  async append(which: number, records: number): Promise<void> {
    const writer = this.writers[which % Math.max(1, this.writers.length)];
    if (writer === undefined) return;
    const payloads = Array.from({ length: records }, () => `"${(this.count += 1)}"`);
    try {
      await writer.append(payloads);
      this.told.written.push(...payloads);
    } catch (error) {
      if (!(error instanceof JournalFailure)) throw error;
      const isDoubtful = error instanceof JournalAmbiguous;
      (isDoubtful ? this.told.doubtful : this.told.denied).push(...payloads);
    }
  }

  /**
   * Checks that no acknowledged record is missing or out of order, no denied one is there, and all readers see the same chain.
   */
  async check(readers: readonly KafkaJournalReader[] = []): Promise<void> {
    this.topic.release();
    const found = await everything(this.reader(), SHARD);
    const payloads = eventsOf(found);
    expect(new Set(payloads).size).toBe(payloads.length);
    const known = new Set([...this.told.written, ...this.told.doubtful]);
    expect(payloads.filter((payload) => !known.has(payload))).toEqual([]);
    const written = new Set(this.told.written);
    expect(payloads.filter((payload) => written.has(payload))).toEqual(this.told.written);
    for (const reader of [this.reader(), ...readers]) {
      for (const entry of found) expect(await reader.entries(SHARD, [entry.sequence])).toEqual([entry]);
      expect((await reader.heads()).get(SHARD) ?? 0).toBe(found.length);
      expect(await everything(reader, SHARD)).toEqual(found);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.writers.map((writer) => writer.close()));
  }
}

export function eventsOf(entries: readonly JournalEntry[]): string[] {
  return entries.filter(({ kind }) => kind === 'event').map(({ payload }) => payload);
}
