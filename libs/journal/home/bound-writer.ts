import type { Appended, JournalHead, JournalHealth, JournalWriter } from '../journal.js';
import type { JournalLock } from './journal-lock.js';

/** A writer in the place where the journals were when it began. Once they are known to be elsewhere it is over, also where nobody asks it for anything. */
export class BoundWriter implements JournalWriter {
  constructor(
    private readonly writer: JournalWriter,
    private readonly lock: Pick<JournalLock, 'displaced'>,
  ) {}

  get shard(): number {
    return this.writer.shard;
  }

  get head(): JournalHead {
    return this.writer.head;
  }

  append(payloads: readonly string[]): Promise<Appended> {
    const { displaced } = this.lock;
    return displaced === undefined ? this.writer.append(payloads) : Promise.reject(displaced);
  }

  confirm(): Promise<void> {
    const { displaced } = this.lock;
    return displaced === undefined ? this.writer.confirm() : Promise.reject(displaced);
  }

  health(): JournalHealth {
    const { displaced } = this.lock;
    return displaced === undefined ? this.writer.health() : { ok: false, reason: displaced.message };
  }

  close(): Promise<void> {
    return this.writer.close();
  }
}
