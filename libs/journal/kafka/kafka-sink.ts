import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { type Cancel, type Clock, pause, repeat } from '#libs/platform/time/clock.js';
import type { BatchSink } from '../group-commit-writer.js';
import { headAt } from '../hash-chain.js';
import type { JournalEntry } from '../journal.js';
import {
  JournalAmbiguous,
  JournalCorrupt,
  JournalFailure,
  JournalFenced,
  JournalUnavailable,
  messageOf,
} from '../journal-errors.js';
import { macOfAppend, type RecordMacs } from '../seals/record-macs.js';
import { Countdown } from './countdown.js';
import type { LocatedHead, LogPosition } from './log-cursor.js';
import { type Anchor, encodeRecord } from './record-format.js';
import type { ShardLog } from './shard-log.js';
import type { Run } from './shard-run.js';
import { SendLost, SendRefused, type TopicLog } from './topic-log.js';

export interface KafkaSinkPorts {
  readonly shard: number;
  readonly log: TopicLog;
  readonly reading: ShardLog;
  readonly clock: Clock;
  readonly seals: RecordMacs | undefined;
  /** The limit of one send. */
  readonly appendWithinMillis: number;
  /** The limit of a batch with its retries: longer than the brokers need to give a topic another leader. */
  readonly settleWithinMillis: number;
}

const RETRY_MILLIS = 100;
/** How often an idle writer checks whether it is still the writer. */
const WATCH_MILLIS = 500;
/** A record that was last confirmed longer ago is checked again before the records after it are acknowledged. */
const RECENT_NANOS = 250_000_000n;

function endsAt(end: number): string {
  return `its topic ends at ${end}, before records that were written`;
}

/**
 * Writes one shard's records into its topic. It knows the next offset, because one send is in flight. A later offset means that
 * another process has written: unless readers ignore that, the shard is lost and this writer ends. After a lost reply it reads
 * the topic and resends a missing batch, because only the first copy counts. See docs/decisions/08.
 */
export class KafkaSink implements BatchSink {
  private lost: JournalFailure | undefined;
  private isWriting = false;
  private anchor: Anchor;
  private readonly cancelWatch: Cancel;
  /** When the position of the last record was last confirmed. */
  private confirmedAt: bigint;
  /** Since when the topic has ended before the last record. */
  private shortSince: bigint | undefined;

  constructor(
    private readonly ports: KafkaSinkPorts,
    /** The position after the last record that is known to be durable, which is the epoch record. */
    private position: LogPosition,
  ) {
    this.anchor = { offset: position.offset ?? 0, sequence: position.head.sequence };
    this.confirmedAt = ports.clock.monotonicNanos();
    this.cancelWatch = repeat(ports.clock, WATCH_MILLIS, () => this.watch().catch(() => undefined));
  }

  fault(): Error | undefined {
    return this.lost;
  }

  /** The last record that is known to be durable, and its offset. */
  get last(): LocatedHead {
    const { head, offset = 0 } = this.position;
    return { ...head, offset };
  }

  async write(records: readonly JournalEntry[]): Promise<void> {
    if (this.lost !== undefined) throw this.lost;
    this.isWriting = true;
    const began = this.now();
    try {
      this.accept(records, await this.deliver(records));
      this.confirmedAt = began;
    } finally {
      this.isWriting = false;
    }
  }

  async confirm(): Promise<void> {
    if (this.lost !== undefined) throw this.lost;
    const { shard, reading } = this.ports;
    const { position } = this;
    const began = this.now();
    const end = await reading.end();
    if (end < position.next) throw new JournalUnavailable(shard, endsAt(end));
    const { entries } = await this.follow(end);
    // Event records may be the batch in flight. An epoch record is from another writer.
    if (entries.some(({ kind }) => kind === 'epoch')) this.lost ??= this.taken();
    const fault = this.fault();
    if (fault !== undefined) throw fault;
    this.noteConfirmed(began);
  }

  async close(): Promise<void> {
    this.cancelWatch();
    await this.ports.log.close().catch(() => undefined);
  }

  /** Sends until the batch is in the journal, and returns the writer's new position. */
  private async deliver(records: readonly JournalEntry[]): Promise<LogPosition> {
    const { shard, reading, clock, seals, appendWithinMillis, settleWithinMillis } = this.ports;
    const appendMacs = macOfAppend(seals, records);
    const values = records.map((record) => encodeRecord(record, this.anchor));
    const remaining = new Countdown(clock, settleWithinMillis);
    let lost: SendLost | undefined;
    let refused: SendRefused | undefined;
    for (;;) {
      const within = Math.min(appendWithinMillis, remaining.millis);
      try {
        const base = await reading.append(values, within, appendMacs);
        return await this.placed(records, base);
      } catch (error) {
        if (error instanceof JournalCorrupt) throw this.damaged(error);
        if (error instanceof SendLost) lost ??= error;
        else if (!(error instanceof SendRefused)) throw error;
        else if (lost === undefined && error.isFinal) {
          throw new JournalUnavailable(shard, error.message, { cause: error });
        } else if (refused === undefined || within === appendWithinMillis) refused = error;
      }
      if (lost === undefined && refused !== undefined && remaining.isOver) {
        throw this.givenUp(remaining, refused);
      }
      const position = lost === undefined ? undefined : await this.settle(records, lost, remaining);
      if (position !== undefined) return position;
      await pause(clock, RETRY_MILLIS);
    }
  }

  /**
   * The last attempt has little time left, so its failure says little. The reason comes from an attempt that had its full time.
   */
  private givenUp(remaining: Countdown, reason: SendRefused): JournalUnavailable {
    const text = `nothing could be appended for ${remaining.all} ms: ${reason.message}`;
    return new JournalUnavailable(this.ports.shard, text, { cause: reason });
  }

  /** The batch has an offset. All messages between it and the last record must be ones that do not count. */
  private async placed(records: readonly JournalEntry[], base: number): Promise<LogPosition> {
    const { shard, clock, settleWithinMillis } = this.ports;
    const end = base + records.length;
    const last = records.at(-1);
    if (last === undefined) throw new RangeError('nothing was sent');
    if (base < this.position.next)
      throw new JournalAmbiguous(shard, `the brokers assigned offset ${base} twice`);
    if (base === this.position.next) {
      await this.checkStillThere();
      return { next: end, head: headAt(last), offset: end - 1, anchor: this.anchor };
    }
    const remaining = new Countdown(clock, settleWithinMillis);
    const position = await this.retryRead(remaining, () => this.findBatch(records, end));
    if (position === undefined)
      throw new JournalAmbiguous(shard, `offset ${base} was acknowledged, but its records do not count`);
    return position;
  }

  /** The outcome of a batch whose reply was lost; undefined if it is not in the topic, or not yet. */
  private async settle(
    records: readonly JournalEntry[],
    lost: SendLost,
    remaining: Countdown,
  ): Promise<LogPosition | undefined> {
    const position = await this.retryRead(remaining, async () =>
      this.findBatch(records, await this.ports.reading.end()),
    );
    if (position === undefined && remaining.isOver) {
      throw new JournalAmbiguous(this.ports.shard, `the answer to an append was lost: ${lost.message}`, {
        cause: lost,
      });
    }
    return position;
  }

  /** A read that has to succeed before this writer may continue. */
  private async retryRead<T>(remaining: Countdown, readOnce: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await readOnce();
      } catch (error) {
        if (error instanceof JournalFailure) throw error;
        if (remaining.isOver) {
          const reason = `the outcome of an append is unknown: ${messageOf(error)}`;
          throw new JournalAmbiguous(this.ports.shard, reason, { cause: error });
        }
      }
      await pause(this.ports.clock, RETRY_MILLIS);
    }
  }

  /** The writer's position after the batch, if the batch is in the journal before `end`. */
  private async findBatch(records: readonly JournalEntry[], end: number): Promise<LogPosition | undefined> {
    const { entries, position } = await this.follow(end);
    const { shard } = this.ports;
    const [first] = entries;
    if (first === undefined) return undefined;
    if (first.kind === 'epoch') throw this.taken();
    if (!records.every(({ hash }, index) => entries[index]?.hash === hash)) {
      throw new JournalAmbiguous(shard, 'another process writes in the same epoch');
    }
    if (entries.length > records.length) {
      throw new JournalAmbiguous(shard, 'the append was written, but the shard has another writer since');
    }
    return position;
  }

  private async follow(end: number): Promise<Run> {
    const { shard, reading } = this.ports;
    const from = this.position;
    if (end < from.next) throw new Error(endsAt(end));
    const run = await reading.run({ from, end });
    if (run.damage !== undefined) throw this.damaged(run.damage);
    await this.check(from);
    // A take-over that came too late is retried, but it would never succeed against a busy writer. So this writer gives way.
    if (run.rival > from.head.epoch) this.lost = new JournalFenced(shard, 'another writer takes the shard');
    return run;
  }

  /** Older records may be lost, with the topic or with a broker's log, although the next offset is right. */
  private async checkStillThere(): Promise<void> {
    const { clock, settleWithinMillis } = this.ports;
    if (this.now() - this.confirmedAt < RECENT_NANOS) return;
    await this.retryRead(new Countdown(clock, settleWithinMillis), () => this.check(this.position));
  }

  private async check({ offset = 0, head: { hash, sequence } }: LogPosition): Promise<void> {
    const { shard, reading } = this.ports;
    const state = await reading.standing({ offset, hash, sequence }).catch((error: unknown) => {
      throw error instanceof JournalCorrupt ? this.damaged(error) : error;
    });
    if (state === 'nothing') throw new Error(`its topic returns nothing at offset ${offset}`);
    if (state === 'known') return;
    throw (this.lost = new JournalAmbiguous(shard, 'its topic is not the one that was written to before'));
  }

  private accept(records: readonly JournalEntry[], position: LogPosition): void {
    const [first] = records;
    const base = (position.offset ?? 0) - records.length + 1;
    this.position = position;
    // Messages of other writers are in between, so offsets are counted from this record on.
    if (first !== undefined && base - this.anchor.offset !== first.sequence - this.anchor.sequence) {
      this.anchor = { offset: base, sequence: first.sequence };
    }
  }

  private async watch(): Promise<void> {
    const { position } = this;
    if (this.isWriting || this.lost !== undefined) return;
    const began = this.now();
    const end = await this.ports.reading.end();
    if (end < position.next) {
      this.noteShortTopic(end, began);
      return;
    }
    const { entries } = await this.follow(end);
    // Records written meanwhile were checked by their write.
    if (this.position !== position || this.hasBegun()) return;
    if (entries.length > 0) this.lost = this.taken();
    else this.noteConfirmed(began);
  }

  /** A new leader may not know the end yet. A leader that does not learn it in time has lost records. */
  private noteShortTopic(end: number, at: bigint): void {
    this.shortSince ??= at;
    const patience = BigInt(this.ports.settleWithinMillis) * NANOS_PER_MILLI;
    if (at - this.shortSince > patience) this.lost = new JournalAmbiguous(this.ports.shard, endsAt(end));
  }

  private noteConfirmed(at: bigint): void {
    if (at > this.confirmedAt) this.confirmedAt = at;
    this.shortSince = undefined;
  }

  private now(): bigint {
    return this.ports.clock.monotonicNanos();
  }

  private damaged(damage: JournalCorrupt): JournalFailure {
    this.lost ??= new JournalAmbiguous(this.ports.shard, damage.message, { cause: damage });
    return this.lost;
  }

  private taken(): JournalFenced {
    return new JournalFenced(this.ports.shard, 'another writer has taken the shard');
  }

  private hasBegun(): boolean {
    return this.isWriting;
  }
}
