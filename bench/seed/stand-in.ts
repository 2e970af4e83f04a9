import type { Pool } from 'pg';
import { instantFromNanos } from '#libs/base/instant.js';
import { AuctionBook } from '#libs/auction/shard/memory/auction-book.js';
import { NotedConnections } from '#libs/auction/shard/connections/connection-book.js';
import { recover } from '#libs/auction/shard/recovery/recovery.js';
import { momentOf, SNAPSHOT_FORMAT, writeMoment } from '#libs/auction/shard/recovery/shard-snapshot.js';
import { SnapshotKeeper } from '#libs/shard/snapshot-keeper.js';
import { StoredAnswers } from '#libs/auction/shard/memory/stored-answers.js';
import { HistoryTable } from '#libs/auction/shard/histories/history-table.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { PostgresSnapshotStore } from '#libs/journal/postgres/postgres-snapshots.js';
import { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { ShardScribe } from './shard-scribe.js';

export interface StandInPorts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly idKeys: readonly [Buffer, ...Buffer[]];
}

/** Replaces the stopped owner of one shard: recovers its state, and leaves what its successor needs. */
export class StandIn {
  private constructor(
    readonly scribe: ShardScribe,
    private readonly snapshots: SealedSnapshots,
    private readonly stored: StoredAnswers,
    private readonly noted: NotedConnections,
  ) {}

  static async begin(writer: JournalWriter, { pool, clock, idKeys }: StandInPorts): Promise<StandIn> {
    const { shard } = writer;
    const reader = new PostgresJournalReader(pool, 'auction');
    const book = new AuctionBook();
    const histories = new HistoryTable(pool, shard);
    const stored = new StoredAnswers(shard, reader, histories);
    const noted = new NotedConnections();
    const store = new PostgresSnapshotStore(pool, 'auction');
    // A rejected snapshot is skipped, and the journal is read instead.
    const snapshots = new SealedSnapshots({
      family: 'auction',
      store,
      keys: idKeys,
      onRefused: () => undefined,
    });
    const { lastEventAt } = await recover({
      shard,
      reader,
      snapshots,
      book,
      stored,
      noted,
      clock,
      head: writer.head,
    });
    const scribe = new ShardScribe(writer, book, lastEventAt ?? instantFromNanos(0n), histories);
    return new StandIn(scribe, snapshots, stored, noted);
  }

  /** Called once everything is projected, so that the next owner need not read it again. */
  async snapshot(): Promise<void> {
    await this.scribe.retire();
    const { writer, book, latest: lastEventAt } = this.scribe;
    const { sequence } = writer.head;
    this.stored.forget(sequence);
    const keeper = new SnapshotKeeper({
      shard: writer.shard,
      snapshots: this.snapshots,
      format: SNAPSHOT_FORMAT,
      write: writeMoment,
      every: 1,
      onFault: (error) => {
        throw error;
      },
    });
    const otherState = { lastEventAt, answers: this.stored.recents, connections: this.noted.all() };
    keeper.take(momentOf(sequence, book.all(), otherState), writer.head);
    await keeper.settled();
  }
}
