import { repeat, type Cancel, type Clock } from '#libs/platform/clock.js';
import type { Appended, JournalHead, JournalHealth, JournalWriter } from '../journal.js';
import type { PlacedHead } from '../kafka/log-cursor.js';
import type { WitnessTable } from './witness-table.js';

const FOLLOW_MILLIS = 1_000;

export interface WitnessedWriterPorts {
  readonly writer: JournalWriter;
  /** The last record that is durable, and where it stands. */
  readonly place: () => PlacedHead;
  readonly witnesses: WitnessTable;
  readonly clock: Clock;
  /** The database was not told how far the journal has come; once until it can be told again. */
  readonly onFault: (error: unknown) => void;
}

/** A writer whose records the database is told of: not each of them, but never later than a second behind, and at its end. */
export class WitnessedWriter implements JournalWriter {
  private told: number;
  private isFailing = false;
  private readonly cancel: Cancel;
  private telling: Promise<void> = Promise.resolve();
  private closing: Promise<void> | undefined;

  /** The writer's head is known to the database. */
  constructor(private readonly ports: WitnessedWriterPorts) {
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
    return this.ports.writer.append(payloads);
  }

  confirm(): Promise<void> {
    return this.ports.writer.confirm();
  }

  health(): JournalHealth {
    return this.ports.writer.health();
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

  private async tell(): Promise<void> {
    const place = this.ports.place();
    if (place.sequence <= this.told) return;
    try {
      await this.ports.witnesses.advance(this.shard, place);
      this.told = place.sequence;
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.ports.onFault(error);
      this.isFailing = true;
    }
  }
}
