import type { Appended, JournalHead, JournalHealth, JournalWriter } from '#libs/journal/journal.js';
import { JournalAmbiguous } from '#libs/journal/journal-errors.js';

/** The outcome of an append whose reply is lost. */
export type LostAppend = 'written' | 'not written';

/** A writer whose appends a test can delay, observe or lose. It passes everything else to the inner writer. */
export class SteeredWriter implements JournalWriter {
  /** The number of requested appends, including delayed ones. */
  asked = 0;
  inFlight = 0;
  /** The largest number of appends that were in flight at the same time. */
  mostInFlight = 0;
  private gate: Promise<void> = Promise.resolve();
  private open: () => void = () => undefined;
  private loss: LostAppend | undefined;
  private death: Error | undefined;

  constructor(private readonly inner: JournalWriter) {}

  get shard(): number {
    return this.inner.shard;
  }

  get head(): JournalHead {
    return this.inner.head;
  }

  /** Delays appends until they are released. */
  hold(): void {
    this.gate = new Promise((resolve) => {
      this.open = resolve;
    });
  }

  letGo(): void {
    this.open();
  }

  loseNext(what: LostAppend): void {
    this.loss = what;
  }

  async append(payloads: readonly string[]): Promise<Appended> {
    this.asked += 1;
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    try {
      await this.gate;
      return await this.passOn(payloads);
    } finally {
      this.inFlight -= 1;
    }
  }

  confirm(): Promise<void> {
    return this.death === undefined ? this.inner.confirm() : Promise.reject(this.death);
  }

  health(): JournalHealth {
    return this.death === undefined ? this.inner.health() : { ok: false, reason: this.death.message };
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private async passOn(payloads: readonly string[]): Promise<Appended> {
    if (this.death !== undefined) throw this.death;
    const { loss } = this;
    if (loss === undefined) return this.inner.append(payloads);
    if (loss === 'written') await this.inner.append(payloads);
    this.death = new JournalAmbiguous(this.shard, `the reply was lost; the append was ${loss}`);
    throw this.death;
  }
}
