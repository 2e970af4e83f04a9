import type { BatchSink } from '../../journal/group-commit-writer.js';
import { checkNext, type StoredRecord } from '../../journal/chain-check.js';
import { GroupCommitWriter } from '../../journal/group-commit-writer.js';
import { beforeFirst, headAt, linkEpoch } from '../../journal/hash-chain.js';
import type { Journal, JournalEntry, JournalReader, JournalWriter } from '../../journal/journal.js';
import type { JournalFamily } from '../../journal/journal-id.js';
import { JournalAmbiguous, JournalCorrupt, JournalFenced } from '../../journal/journal-errors.js';

/** The outcome of a write whose reply is lost. */
export type LostWrite = 'written' | 'not written';

interface MemoryShard {
  epoch: number;
  records: JournalEntry[];
  lost: LostWrite | undefined;
}

/** The records of all shards in memory. Outlives every writer, like a database. */
export class MemoryJournalStore implements JournalReader {
  private readonly shards = new Map<number, MemoryShard>();

  constructor(readonly family: JournalFamily = 'auction') {}

  shard(shard: number): MemoryShard {
    const known = this.shards.get(shard);
    if (known !== undefined) return known;
    const fresh: MemoryShard = { epoch: 0, records: [], lost: undefined };
    this.shards.set(shard, fresh);
    return fresh;
  }

  /** Lets the next append of this shard end with an unknown outcome. */
  loseNext(shard: number, what: LostWrite): void {
    this.shard(shard).lost = what;
  }

  read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]> {
    return attempt(() => {
      const { records } = this.shard(shard);
      const anchor = fromSequence - 1;
      const start = anchor === 0 ? -1 : records.findIndex(({ sequence }) => sequence >= anchor);
      if (anchor > 0 && start < 0) return [];
      const before = records[start] ?? beforeFirst(this.family);
      if (before.sequence > anchor) throw new JournalCorrupt(shard, anchor, 'the record is missing');
      return records.slice(start + 1, start + 1 + limit).map((record, index, run) => {
        return checkNext(shard, run[index - 1] ?? before, storedOf(record));
      });
    });
  }

  entries(shard: number, sequences: readonly number[]): Promise<JournalEntry[]> {
    const { records } = this.shard(shard);
    const bySequence = new Map(records.map((record) => [record.sequence, record]));
    const find = (sequence: number): JournalEntry => {
      const record = bySequence.get(sequence);
      if (record === undefined) throw new JournalCorrupt(shard, sequence, 'the record is missing');
      return record;
    };
    return attempt(() =>
      sequences.map((sequence) =>
        checkNext(
          shard,
          sequence === 1 ? beforeFirst(this.family) : find(sequence - 1),
          storedOf(find(sequence)),
        ),
      ),
    );
  }

  heads(shards?: readonly number[]): Promise<Map<number, number>> {
    const heads = new Map<number, number>();
    for (const [shard, { records }] of this.shards) {
      const last = records.at(-1);
      if (last !== undefined && (shards?.includes(shard) ?? true)) heads.set(shard, last.sequence);
    }
    return Promise.resolve(heads);
  }
}

function storedOf(record: JournalEntry): StoredRecord {
  return { ...record, payload: Buffer.from(record.payload) };
}

/** The journal as one process uses it. Several processes on one store fence each other like real ones. */
export class MemoryJournal implements Journal {
  constructor(
    private readonly store: MemoryJournalStore,
    private readonly opener = 'memory',
  ) {}

  async open(shard: number): Promise<JournalWriter> {
    const stored = this.store.shard(shard);
    const last = stored.records.at(-1);
    if (last !== undefined) await this.store.entries(shard, [last.sequence]);
    stored.epoch += 1;
    const record = linkEpoch(
      shard,
      stored.records.at(-1) ?? beforeFirst(this.store.family),
      stored.epoch,
      this.opener,
    );
    stored.records.push(record);
    return new GroupCommitWriter(shard, headAt(record), new MemorySink(shard, stored));
  }
}

class MemorySink implements BatchSink {
  private readonly epoch: number;

  constructor(
    private readonly shard: number,
    private readonly stored: MemoryShard,
  ) {
    this.epoch = stored.epoch;
  }

  fault(): undefined {
    return undefined;
  }

  write(records: readonly JournalEntry[]): Promise<void> {
    return attempt(() => {
      this.checkEpoch();
      const { lost } = this.stored;
      this.stored.lost = undefined;
      if (lost !== 'not written') this.stored.records.push(...records);
      if (lost !== undefined)
        throw new JournalAmbiguous(this.shard, `the reply was lost; the append was ${lost}`);
    });
  }

  confirm(): Promise<void> {
    return attempt(() => {
      this.checkEpoch();
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private checkEpoch(): void {
    if (this.stored.epoch !== this.epoch) throw new JournalFenced(this.shard, 'another writer has taken it');
  }
}

/** Fails like a remote store: by rejecting, never by throwing. */
async function attempt<T>(work: () => T): Promise<T> {
  await Promise.resolve();
  return work();
}
