import { pause, repeat, type Cancel, type Clock } from '#libs/platform/clock.js';
import type { BatchSink } from '../batch-sink.js';
import { headAt } from '../hash-chain.js';
import type { JournalEntry } from '../journal.js';
import {
  JournalAmbiguous,
  JournalFailure,
  JournalFenced,
  JournalUnavailable,
  messageOf,
} from '../journal-errors.js';
import type { LogPlace } from './log-cursor.js';
import { encodeRecord, type Anchor } from './record-format.js';
import type { ShardLog } from './shard-log.js';
import { SendLost, SendRefused, type TopicLog } from './topic-log.js';

export interface KafkaSinkPorts {
  readonly shard: number;
  readonly log: TopicLog;
  readonly reading: ShardLog;
  readonly clock: Clock;
  readonly appendWithinMillis: number;
  readonly settleWithinMillis: number;
}

const RETRY_MILLIS = 100;
/** How often a writer that has nothing to write looks whether it still is the writer. */
const WATCH_MILLIS = 500;
const NANOS_PER_MILLI = 1_000_000n;

/**
 * One shard's records on their way into their topic. With one send in flight the writer knows which offset comes next; an
 * answer with any other means that somebody else has written, and unless that was only the work of older epochs, the shard
 * is theirs and this writer has to die before anybody hears of the send. A send is repeated only where the broker has said
 * that it wrote nothing.
 */
export class KafkaSink implements BatchSink {
  private lost: Error | undefined;
  private isWriting = false;
  private anchor: Anchor;
  private readonly cancelWatch: Cancel;

  constructor(
    private readonly ports: KafkaSinkPorts,
    /** Behind the last record that is known to be durable: the epoch record. */
    private place: LogPlace,
  ) {
    this.anchor = { offset: place.offset ?? 0, sequence: place.head.sequence };
    this.cancelWatch = repeat(ports.clock, WATCH_MILLIS, () => this.watch().catch(() => undefined));
  }

  fault(): Error | undefined {
    return this.lost;
  }

  async write(records: readonly JournalEntry[]): Promise<void> {
    this.isWriting = true;
    try {
      const values = records.map((record) => encodeRecord(record, this.anchor));
      const base = await this.send(values).catch((error: unknown) => this.settle(records, error));
      await this.accept(records, base);
    } finally {
      this.isWriting = false;
    }
  }

  async close(): Promise<void> {
    this.cancelWatch();
    await this.ports.log.close().catch(() => undefined);
  }

  private async send(values: readonly Buffer[]): Promise<number> {
    const { shard, log, clock, appendWithinMillis } = this.ports;
    const remaining = this.countdown(appendWithinMillis);
    for (;;) {
      try {
        return await log.append(values, Math.max(1, remaining()));
      } catch (error) {
        if (!(error instanceof SendRefused)) throw error;
        if (remaining() <= RETRY_MILLIS) throw new JournalUnavailable(shard, error.message, { cause: error });
      }
      await pause(clock, RETRY_MILLIS);
    }
  }

  /** Whether what lies between the last record and this batch leaves the shard ours. */
  private async accept(records: readonly JournalEntry[], base: number): Promise<void> {
    const { shard, reading } = this.ports;
    const { next } = this.place;
    const [first] = records;
    const last = records.at(-1);
    if (first === undefined || last === undefined) throw new RangeError('nothing to accept');
    if (base < next) throw new JournalAmbiguous(shard, `offset ${base} was given out twice`);
    if (base > next) {
      const { entries } = await this.orAmbiguous(() =>
        reading.run(this.place, Number.MAX_SAFE_INTEGER, base),
      );
      if (entries.length > 0) throw new JournalFenced(shard, 'another writer has taken the shard');
    }
    // Somebody else's messages stand between: places are counted from here on.
    if (base - this.anchor.offset !== first.sequence - this.anchor.sequence) {
      this.anchor = { offset: base, sequence: first.sequence };
    }
    const offset = base + records.length - 1;
    this.place = { next: offset + 1, head: headAt(last), offset, anchor: this.anchor };
  }

  /** The answer was lost: the topic tells, as soon as it holds the batch. Where it does not, nobody knows what is still on its way. */
  private async settle(records: readonly JournalEntry[], error: unknown): Promise<number> {
    if (!(error instanceof SendLost)) throw error;
    const { shard, clock, settleWithinMillis } = this.ports;
    const remaining = this.countdown(settleWithinMillis);
    let obstacle = 'it is not there';
    while (remaining() > 0) {
      try {
        const base = await this.find(records);
        if (base !== undefined) return base;
      } catch (failure) {
        if (failure instanceof JournalFailure) throw failure;
        obstacle = messageOf(failure);
      }
      await pause(clock, RETRY_MILLIS);
    }
    throw new JournalAmbiguous(shard, `the answer to an append was lost (${error.message}) and ${obstacle}`, {
      cause: error,
    });
  }

  private async find(records: readonly JournalEntry[]): Promise<number | undefined> {
    const { shard, reading } = this.ports;
    const { entries, place } = await reading.run(this.place, Number.MAX_SAFE_INTEGER);
    const [first] = entries;
    if (first === undefined) return undefined;
    if (first.kind === 'epoch') throw new JournalFenced(shard, 'another writer has taken the shard');
    if (!records.every(({ hash }, index) => entries[index]?.hash === hash)) return undefined;
    if (entries.length > records.length) {
      throw new JournalAmbiguous(shard, 'the append was written, but the shard has another writer since');
    }
    return (place.offset ?? 0) - records.length + 1;
  }

  private async watch(): Promise<void> {
    const { place } = this;
    if (this.isWriting || this.lost !== undefined) return;
    const { shard, reading } = this.ports;
    const end = await reading.end();
    if (end <= place.next) return;
    const { entries } = await reading.run(place, 1, end);
    // What was written meanwhile has been looked at by whoever wrote it.
    if (this.place !== place || this.hasBegun()) return;
    if (entries.length > 0) this.lost = new JournalFenced(shard, 'another writer has taken the shard');
  }

  private hasBegun(): boolean {
    return this.isWriting;
  }

  private async orAmbiguous<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      throw new JournalAmbiguous(this.ports.shard, `nobody knows who has written: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  private countdown(millis: number): () => number {
    const { clock } = this.ports;
    const end = clock.monotonicNanos() + BigInt(millis) * NANOS_PER_MILLI;
    return () => Number((end - clock.monotonicNanos()) / NANOS_PER_MILLI);
  }
}
