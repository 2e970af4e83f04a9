import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { Appended, JournalHead, JournalHealth, JournalWriter } from '../journal.js';
import { JournalFenced, JournalUnavailable, messageOf } from '../journal-errors.js';
import type { LocatedHead } from '../kafka/log-cursor.js';
import type { CheckpointTable } from './checkpoint-table.js';

const FOLLOW_MILLIS = 1_000;

export interface CheckpointedWriterPorts {
  readonly writer: JournalWriter;
  /** The last durable record, with its offset. */
  readonly located: () => LocatedHead;
  readonly checkpoints: CheckpointTable;
  readonly clock: Clock;
  /** Receives the error of a failed checkpoint: once, until a checkpoint succeeds again. */
  readonly onFault: (error: unknown) => void;
}

/** A writer that keeps the checkpoint of its shard: at most a second late, and once more when it closes. */
export class CheckpointedWriter implements JournalWriter {
  private noted: number;
  private isFailing = false;
  private fenced: JournalFenced | undefined;
  private readonly cancel: Cancel;
  private noting: Promise<void> = Promise.resolve();
  private closing: Promise<void> | undefined;

  /** The checkpoint is already at the writer's head. */
  constructor(private readonly ports: CheckpointedWriterPorts) {
    this.noted = ports.writer.head.sequence;
    this.cancel = repeat(ports.clock, FOLLOW_MILLIS, () => (this.noting = this.note()));
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
   * An isolated broker may keep reporting an end from before a take-over. Each new writer moves the checkpoint before it serves
   * anything, so the database is asked as well.
   */
  async confirm(): Promise<void> {
    if (this.fenced !== undefined) throw this.fenced;
    const [epoch] = await Promise.all([this.checkpointEpoch(), this.ports.writer.confirm()]);
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
    await this.noting;
    await this.note();
  }

  private async checkpointEpoch(): Promise<number> {
    try {
      return (await this.ports.checkpoints.located(this.shard))?.epoch ?? 0;
    } catch (error) {
      const reason = `the database could not be asked which writer has it: ${messageOf(error)}`;
      throw new JournalUnavailable(this.shard, reason, { cause: error });
    }
  }

  /**
   * No other owner writes in this epoch, so a later checkpoint of this epoch is wrong, and the next owner would look for its
   * record in vain.
   */
  private async refuseFalseCheckpoint({ epoch, sequence }: LocatedHead): Promise<void> {
    const known = await this.ports.checkpoints.located(this.shard);
    if (known?.epoch !== epoch || known.sequence <= sequence) return;
    throw new Error(
      `shard ${this.shard}: the database has seen record ${known.sequence} of epoch ${epoch}, but its owner is at ${sequence}: another process has written that; see docs/operate/kafka.md (A checkpoint ahead of its topic)`,
    );
  }

  private async note(): Promise<void> {
    const head = this.ports.located();
    if (head.sequence <= this.noted) return;
    try {
      const isNew = await this.ports.checkpoints.advance(this.shard, head);
      if (!isNew) await this.refuseFalseCheckpoint(head);
      this.noted = head.sequence;
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.ports.onFault(error);
      this.isFailing = true;
    }
  }
}
