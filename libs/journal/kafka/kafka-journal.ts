import { pause, type Clock } from '#libs/platform/clock.js';
import { GroupCommitWriter } from '../group-commit-writer.js';
import { headAt, sealEpoch } from '../hash-chain.js';
import type { Journal, JournalWriter } from '../journal.js';
import { JournalCorrupt, JournalUnavailable, messageOf } from '../journal-errors.js';
import { KafkaSink } from './kafka-sink.js';
import type { LogPlace } from './log-cursor.js';
import { encodeRecord } from './record-format.js';
import { ShardLog } from './shard-log.js';
import type { TopicLog } from './topic-log.js';

export interface KafkaJournalOptions {
  /** Makes the topic where there is none, refuses one with wrong settings, and opens it. */
  readonly openLog: (shard: number) => Promise<TopicLog>;
  readonly clock: Clock;
  /** Who opens: stands in the epoch records. */
  readonly opener: string;
  readonly openWithinMillis?: number;
  readonly appendWithinMillis?: number;
  readonly settleWithinMillis?: number;
}

const OPEN_WITHIN_MILLIS = 30_000;
const APPEND_WITHIN_MILLIS = 15_000;
const SETTLE_WITHIN_MILLIS = 15_000;
const RETRY_MILLIS = 100;
const NANOS_PER_MILLI = 1_000_000n;

/** The journal in Kafka: a topic a shard, one partition each. */
export class KafkaJournal implements Journal {
  constructor(private readonly options: KafkaJournalOptions) {}

  async open(shard: number): Promise<JournalWriter> {
    let log: TopicLog | undefined;
    try {
      log = await this.options.openLog(shard);
      const reading = new ShardLog(shard, log);
      const place = await this.takeOver(shard, log, reading);
      const sink = new KafkaSink(
        {
          shard,
          log,
          reading,
          clock: this.options.clock,
          appendWithinMillis: this.options.appendWithinMillis ?? APPEND_WITHIN_MILLIS,
          settleWithinMillis: this.options.settleWithinMillis ?? SETTLE_WITHIN_MILLIS,
        },
        place,
      );
      return new GroupCommitWriter(shard, place.head, sink);
    } catch (error) {
      await log?.close().catch(() => undefined);
      if (error instanceof JournalCorrupt) throw error;
      throw new JournalUnavailable(shard, `it cannot be opened: ${messageOf(error)}`, { cause: error });
    }
  }

  /**
   * An epoch record counts where it continues the chain. When the writer before was quicker, or another opener was, ours
   * has come too late; then it is tried anew behind what they have written.
   */
  private async takeOver(shard: number, log: TopicLog, reading: ShardLog): Promise<LogPlace> {
    const { clock, opener, openWithinMillis = OPEN_WITHIN_MILLIS } = this.options;
    const deadline = clock.monotonicNanos() + BigInt(openWithinMillis) * NANOS_PER_MILLI;
    for (;;) {
      try {
        const tail = await reading.tail();
        const record = sealEpoch(shard, tail.head, tail.head.epoch + 1, opener);
        const before =
          tail.offset === undefined ? undefined : { offset: tail.offset, sequence: tail.head.sequence };
        const offset = await log.append([encodeRecord(record, before)], openWithinMillis);
        const { place } = await reading.run(tail, Number.MAX_SAFE_INTEGER, offset + 1);
        // By its place, not by its content: somebody of the same name may have written the same.
        if (place.offset === offset) return { ...place, head: headAt(record) };
      } catch (error) {
        if (error instanceof JournalCorrupt || clock.monotonicNanos() > deadline) throw error;
        await pause(clock, RETRY_MILLIS);
      }
    }
  }
}
