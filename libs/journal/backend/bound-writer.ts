import type { Appended, JournalHead, JournalHealth, JournalWriter } from '../journal.js';
import { JournalFenced } from '../journal-errors.js';
import type { JournalLock } from './journal-lock.js';

/** A writer in the backend that had the journals when it began. It ends once they are known to have moved, even without a call. */
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
    return this.over === undefined ? this.writer.append(payloads) : Promise.reject(this.over);
  }

  confirm(): Promise<void> {
    return this.over === undefined ? this.writer.confirm() : Promise.reject(this.over);
  }

  health(): JournalHealth {
    return this.over === undefined ? this.writer.health() : { ok: false, reason: this.over.message };
  }

  close(): Promise<void> {
    return this.writer.close();
  }

  private get over(): JournalFenced | undefined {
    const { displaced } = this.lock;
    return displaced === undefined ? undefined : new JournalFenced(this.shard, displaced.message);
  }
}
