import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { Appended, JournalHead, JournalHealth, JournalWriter } from '../journal.js';
import { JournalFenced, JournalUnavailable, messageOf } from '../journal-errors.js';
import type { LocatedHead } from '../kafka/log-cursor.js';
import type { CheckpointTable } from './checkpoint-table.js';

const FOLLOW_MILLIS = 1_000;

export interface CheckpointedWriterPorts {
  readonly writer: JournalWriter;
  /** The last record that is durable, and where it stands. */
  readonly place: () => LocatedHead;
  readonly witnesses: CheckpointTable;
  readonly clock: Clock;
  /** The database was not told how far the journal has come; once until it can be told again. */
  readonly onFault: (error: unknown) => void;
}

/** A writer whose records the database is told of: not each of them, but never later than a second behind, and at its end. */
export class CheckpointedWriter implements JournalWriter {
  private told: number;
  private isFailing = false;
  private fenced: JournalFenced | undefined;
  private readonly cancel: Cancel;
  private telling: Promise<void> = Promise.resolve();
  private closing: Promise<void> | undefined;

  /** The writer's head is known to the database. */
  constructor(private readonly ports: CheckpointedWriterPorts) {
    this.told = ports.writer.head.sequence;
    this.cancel = repeat(ports.clock, FOLLOW_MILLIS, () => (this.telling = this.tell()));
  }

  get shard(): number {
    return this.ports.writer.shard;
  }

  get head(): JournalHead {
    return this.ports.writer.head;
  }

  append(payloads: readonly string[]): Promise<Appended> {
    return this.fenced === undefined ? this.ports.writer.append(payloads) : Promise.reject(this.fenced);
  }

  /**
   * A broker that has been cut off may tell the end of before a take-over for as long as it is. The database hears of each
   * before anybody is served by it, so it is asked as well.
   */
  async confirm(): Promise<void> {
    if (this.fenced !== undefined) throw this.fenced;
    const [epoch] = await Promise.all([this.epochTold(), this.ports.writer.confirm()]);
    if (epoch <= this.head.epoch) return;
    throw (this.fenced = new JournalFenced(
      this.shard,
      `another writer has taken the shard in epoch ${epoch}`,
    ));
  }

  health(): JournalHealth {
    return this.fenced === undefined
      ? this.ports.writer.health()
      : { ok: false, reason: this.fenced.message };
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    this.cancel();
    await this.ports.writer.close();
    await this.telling;
    await this.tell();
  }

  private async epochTold(): Promise<number> {
    try {
      return (await this.ports.witnesses.place(this.shard))?.epoch ?? 0;
    } catch (error) {
      const reason = `the database cannot say who writes it: ${messageOf(error)}`;
      throw new JournalUnavailable(this.shard, reason, { cause: error });
    }
  }

  /** Nobody else writes in its epoch: what the database has seen there behind it was written by no owner, and the next one will look for it. */
  private async refuseFalseWitness({ epoch, sequence }: LocatedHead): Promise<void> {
    const known = await this.ports.witnesses.place(this.shard);
    if (known?.epoch !== epoch || known.sequence <= sequence) return;
    throw new Error(
      `shard ${this.shard}: the database has seen record ${known.sequence} of epoch ${epoch}, and its owner has come to ${sequence}: somebody else has written that; docs/operations.md says what to do (A witness in front of its topic)`,
    );
  }

  private async tell(): Promise<void> {
    const place = this.ports.place();
    if (place.sequence <= this.told) return;
    try {
      const isTold = await this.ports.witnesses.advance(this.shard, place);
      if (!isTold) await this.refuseFalseWitness(place);
      this.told = place.sequence;
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.ports.onFault(error);
      this.isFailing = true;
    }
  }
}
