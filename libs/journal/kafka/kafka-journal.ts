import { type Clock, pause } from '#libs/platform/time/clock.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { LAST_EPOCH } from '../chain-check.js';
import { GroupCommitWriter } from '../group-commit-writer.js';
import { linkEpoch } from '../hash-chain.js';
import type { EpochIncarnation, Journal, JournalWriter } from '../journal.js';
import { JournalCorrupt, JournalUnavailable, messageOf } from '../journal-errors.js';
import type { JournalFamily } from '../journal-id.js';
import { incarnationAfter } from '../incarnation/topic-incarnation.js';
import { macOfAppend, type RecordMacs } from '../seals/record-macs.js';
import { checkEnd, withLastSealed } from '../seals/sealed-end.js';
import type { Checkpoint } from '../checkpoint/checkpoint-table.js';
import { Countdown } from './countdown.js';
import { KafkaSink } from './kafka-sink.js';
import type { LocatedHead, LogPosition } from './log-cursor.js';
import { isNotAllowed, rightMissing } from './kafkajs/rights.js';
import { encodeRecord } from './record-format.js';
import { ShardLog } from './shard-log.js';
import type { Run } from './shard-run.js';
import { SendLost, SendRefused, type TopicLog } from './topic-log.js';

export interface KafkaJournalOptions {
  readonly family: JournalFamily;
  /** Opens the shard's topic; refuses one that is unfit for a journal. */
  readonly openLog: (shard: number) => Promise<TopicLog>;
  readonly clock: Clock;
  /** The name of the process in epoch records. */
  readonly opener: string;
  /** Without keys records get no MACs, and every end is trusted. */
  readonly sealing?: KafkaSealing;
  /** Without it epochs name no incarnation, and every incarnation is trusted. */
  readonly lineage?: KafkaLineage;
  /**
   * For owners. Rejects if the journals are not known to be here: they may be moved while the shard opens, and records after the
   * mover's epoch are never read.
   */
  readonly stillHere?: () => Promise<void>;
  readonly openWithinMillis?: number;
  readonly appendWithinMillis?: number;
  readonly settleWithinMillis?: number;
}

export interface KafkaSealing {
  readonly seals: RecordMacs;
  /** The first record from which the shard's appends have MACs; undefined if there is none yet. */
  readonly sealedFrom: (shard: number) => Promise<number | undefined>;
}

export interface KafkaLineage {
  /** The incarnation of the database that belongs to the journals. */
  readonly life: string;
  /** The records of the shard up to which that database is known to be complete. */
  readonly known: (shard: number) => Promise<readonly Checkpoint[]>;
}

const OPEN_WITHIN_MILLIS = 30_000;
const APPEND_WITHIN_MILLIS = 5_000;
const SETTLE_WITHIN_MILLIS = 30_000;
const RETRY_MILLIS = 100;

export interface LocatedWriter {
  readonly writer: JournalWriter;
  /** The last record that is known to be durable. */
  readonly located: () => LocatedHead;
}

interface Attempt {
  readonly isOurs: boolean;
  /** The outcome of the write is known, if only that it came too late. */
  readonly isKnown: boolean;
  readonly position: LogPosition;
}

/** The journal in Kafka: one topic a shard, with one partition each. */
export class KafkaJournal implements Journal {
  constructor(private readonly options: KafkaJournalOptions) {}

  async open(shard: number): Promise<JournalWriter> {
    return (await this.openAfter(shard)).writer;
  }

  /** Reads from a known record on, instead of trusting what the end of the topic claims. */
  async openAfter(shard: number, known?: LocatedHead): Promise<LocatedWriter> {
    let log: TopicLog | undefined;
    try {
      log = await this.options.openLog(shard);
      const reading = new ShardLog({ family: this.options.family, shard }, log);
      const position = await this.takeOver(reading, known);
      // Checked again after its record: a mover sees the record, or has moved the journals before it was written.
      await this.options.stillHere?.();
      const sink = new KafkaSink(
        {
          shard,
          log,
          reading,
          clock: this.options.clock,
          seals: this.options.sealing?.seals,
          appendWithinMillis: this.options.appendWithinMillis ?? APPEND_WITHIN_MILLIS,
          settleWithinMillis: this.options.settleWithinMillis ?? SETTLE_WITHIN_MILLIS,
        },
        position,
      );
      return { writer: new GroupCommitWriter(shard, position.head, sink), located: () => sink.last };
    } catch (error) {
      await log?.close().catch(() => undefined);
      if (error instanceof StartFault) throw error;
      if (isNotAllowed(error)) throw rightMissing(messageOf(error));
      throw new JournalUnavailable(shard, `it cannot be opened: ${messageOf(error)}`, { cause: error });
    }
  }

  /**
   * An epoch record counts if it continues the chain. If the previous writer or another opener was faster, ours came too late; then
   * it is retried after their records.
   */
  private async takeOver(reading: ShardLog, known?: LocatedHead): Promise<LogPosition> {
    const { clock, openWithinMillis = OPEN_WITHIN_MILLIS } = this.options;
    const remaining = new Countdown(clock, openWithinMillis);
    let tail: LogPosition | undefined;
    let sealed: number | undefined;
    for (;;) {
      let failure: unknown = new Error('another process was faster at every attempt');
      try {
        if (tail === undefined) {
          const run = await reading.tail(known);
          sealed = this.lastSealed(run, known);
          if (run.damage !== undefined) throw run.damage;
          tail = run.position;
        }
        if (!(await this.isSealed(reading.shard, tail))) {
          tail = undefined;
          throw new Error('its topic ends before the first record that is known to be sealed');
        }
        const life = await this.incarnationAfter(reading, tail);
        await this.options.stillHere?.();
        const attempt = await this.attempt(reading, { tail, life }, remaining.millis);
        if (attempt.isOurs) return attempt.position;
        tail = attempt.position;
        if (!attempt.isKnown) await pause(clock, RETRY_MILLIS);
      } catch (error) {
        if (error instanceof StartFault) throw withLastSealed(error, reading.shard, sealed);
        if (isNotAllowed(error)) throw error;
        failure = error;
        await pause(clock, RETRY_MILLIS);
      }
      if (remaining.isOver) throw failure;
    }
  }

  /**
   * Checked before each attempt, because the new record would follow what others have written meanwhile. Rejects if no owner
   * wrote the end; false if the shard got its first MAC after the end was read.
   */
  private async isSealed(shard: number, { head, seal }: LogPosition): Promise<boolean> {
    const { sealing } = this.options;
    if (sealing === undefined) return true;
    const from = await sealing.sealedFrom(shard);
    if (from !== undefined && head.sequence < from) return false;
    checkEnd(sealing.seals, shard, { ...head, seal }, from);
    return true;
  }

  /** The last record that an owner is known to have written. A checkpoint counts, because an owner has written it. */
  private lastSealed({ entries }: Run, known?: LocatedHead): number | undefined {
    const { seals } = this.options.sealing ?? {};
    const last = entries.findLast((entry) => entry.seal !== undefined && seals?.isGood(entry, entry.seal));
    return last?.sequence ?? known?.sequence;
  }

  /** Checked before each attempt too: a replaced database may still have an owner that writes meanwhile. */
  private async incarnationAfter(reading: ShardLog, tail: LogPosition): Promise<EpochIncarnation> {
    const { lineage } = this.options;
    if (lineage === undefined) return {};
    const { shard } = reading;
    const began = await reading.beginningOf(tail);
    return incarnationAfter(shard, lineage.life, { ...tail.head, began }, await lineage.known(shard));
  }

  private async attempt(
    reading: ShardLog,
    { tail, life }: { readonly tail: LogPosition; readonly life: EpochIncarnation },
    withinMillis: number,
  ): Promise<Attempt> {
    const { appendWithinMillis = APPEND_WITHIN_MILLIS, opener, sealing } = this.options;
    const { epoch: before, sequence } = tail.head;
    if (before >= LAST_EPOCH) {
      throw new JournalCorrupt(reading.shard, sequence, `no epoch can begin after epoch ${before}`);
    }
    const record = linkEpoch(reading.shard, tail.head, before + 1, opener, life);
    const { offset: last } = tail;
    const anchor = last === undefined ? undefined : { offset: last, sequence: tail.head.sequence };
    const offset = await reading
      .append(
        [encodeRecord(record, anchor)],
        Math.min(appendWithinMillis, withinMillis),
        macOfAppend(sealing?.seals, [record]),
      )
      .catch(unlessUnknown);
    const end = offset === undefined ? await reading.end() : offset + 1;
    const { position, damage } = await reading.run({ from: tail, end });
    if (damage !== undefined) throw damage;
    if (!(await reading.stillHas(tail))) throw new Error('its topic is not the one that was read before');
    // Compared by offset as well: another process of the same name may have written the same content.
    const isOurs = offset !== undefined && position.offset === offset && position.head.hash === record.hash;
    return { isOurs, isKnown: offset !== undefined, position };
  }
}

/** A take-over whose reply was lost may have been written. It is repeated in the next epoch. */
function unlessUnknown(error: unknown): undefined {
  if (error instanceof SendLost || (error instanceof SendRefused && !error.isFinal)) return undefined;
  throw error;
}
