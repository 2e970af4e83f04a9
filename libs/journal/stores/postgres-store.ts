import { BoundWriter } from '../backend/bound-writer.js';
import { JournalBackend } from '../backend/journal-backend.js';
import { JournalLock } from '../backend/journal-lock.js';
import type { Journal } from '../journal.js';
import { PostgresJournal } from '../postgres/postgres-journal.js';
import { PostgresJournalReader } from '../postgres/postgres-reader.js';
import { PostgresReceiver } from '../postgres/postgres-receiver.js';
import type { Surplus } from '../restored/restored-check.js';
import { type JournalReceiver, type JournalStore, sealsOf, type StorePorts } from './journal-store.js';

/** Journals in `journal.records`, whose tables are migrations. */
export class PostgresStore implements JournalStore {
  readonly kind = 'postgres';
  readonly reader: PostgresJournalReader;
  readonly bareReader: PostgresJournalReader;
  private readonly lock: JournalLock;

  constructor(private readonly ports: StorePorts) {
    this.reader = this.bareReader = new PostgresJournalReader(ports.pool, ports.family);
    this.lock = new JournalLock(ports.databaseUrl, ports.clock);
  }

  journalOf(opener: string): Journal {
    const journal = this.journalOfMover(opener);
    return {
      open: async (shard) => {
        await this.lock.share(() => this.prepare());
        await this.prepare();
        return new BoundWriter(await journal.open(shard), this.lock);
      },
    };
  }

  journalOfMover(opener: string): Journal {
    const { databaseUrl: url, clock, family } = this.ports;
    return new PostgresJournal({ family, url, opener, clock, seals: sealsOf(this.ports) });
  }

  prepare(): Promise<void> {
    return new JournalBackend(this.ports.pool, this.ports.family).check(undefined);
  }

  /** A missing table is reported by its reader. */
  checkFit(): Promise<void> {
    return Promise.resolve();
  }

  /** There are no checkpoints of journals in the database itself. */
  refuseLost(): Promise<void> {
    return Promise.resolve();
  }

  backend(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** The journals and the other tables are in one database, so they are lost and restored together. */
  remember(): Promise<void> {
    return Promise.resolve();
  }

  receiver(): JournalReceiver {
    return new PostgresReceiver(this.ports.pool, this.ports.family);
  }

  /** Journals that are restored with their database lack nothing. */
  surplus(): Promise<readonly Surplus[]> {
    return Promise.resolve([]);
  }

  survey(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  close(): Promise<void> {
    return this.lock.letGo();
  }
}
