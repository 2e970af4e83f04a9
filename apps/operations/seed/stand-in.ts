import type { Pool } from 'pg';
import { instantFromNanos } from '#libs/auction/instant.js';
import { AuctionBook } from '#libs/engine/auction-book.js';
import { NotedConnections } from '#libs/engine/connections/noted-connections.js';
import { recover } from '#libs/engine/recovery.js';
import { momentOf } from '#libs/engine/shard-snapshot.js';
import { SnapshotKeeper } from '#libs/engine/snapshot-keeper.js';
import { StoredAnswers } from '#libs/engine/stored-answers.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { PostgresSnapshotStore } from '#libs/journal/postgres/postgres-snapshots.js';
import type { Clock } from '#libs/platform/clock.js';
import { ShardScribe } from './shard-scribe.js';

/** What stands in for the owner of one shard: it knows what the owner knew, and leaves behind what its successor needs. */
export class StandIn {
  private constructor(
    readonly scribe: ShardScribe,
    private readonly pool: Pool,
    private readonly stored: StoredAnswers,
    private readonly noted: NotedConnections,
  ) {}

  static async begin(writer: JournalWriter, pool: Pool, clock: Clock): Promise<StandIn> {
    const { shard } = writer;
    const reader = new PostgresJournalReader(pool);
    const book = new AuctionBook();
    const stored = new StoredAnswers(shard, reader);
    const noted = new NotedConnections();
    const snapshots = new PostgresSnapshotStore(pool);
    const { lastEventAt } = await recover({
      shard,
      reader,
      snapshots,
      book,
      stored,
      noted,
      clock,
      head: writer.head.sequence,
    });
    const scribe = new ShardScribe(writer, book, lastEventAt ?? instantFromNanos(0n));
    return new StandIn(scribe, pool, stored, noted);
  }

  /** Everything up to here is projected: the next owner need not read it again. */
  async snapshot(): Promise<void> {
    const { writer, book, latest: lastEventAt } = this.scribe;
    const { sequence, hash } = writer.head;
    book.evict(sequence);
    this.stored.forget(sequence);
    const keeper = new SnapshotKeeper({
      shard: writer.shard,
      store: new PostgresSnapshotStore(this.pool),
      every: 1,
      onFault: (error) => {
        throw error;
      },
    });
    const beside = { lastEventAt, answers: this.stored.recents, connections: this.noted.all() };
    keeper.take(momentOf(sequence, book.all(), beside), hash);
    await keeper.settled();
  }
}
