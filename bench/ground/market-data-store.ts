import type { Pool } from 'pg';
import { dataProjection } from '#libs/data/ingest/projection.js';
import { writeRecord } from '#libs/data/rules/event-codec.js';
import { PROVIDERS } from '#libs/data/rules/providers.js';
import type { StoredMarket } from '#libs/data/store/market-table.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { qualified, tablesOf } from '#libs/projecting/projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { marketsOf, type StreamOf, tradesOf } from '../load/market-stream.js';
import type { BenchDatabase } from './bench-database.js';

const APPEND = 1_000;
const MILLIS_PER_SECOND = 1_000;
const PROJECTION = dataProjection(({ reason }) => {
  throw new Error(`an event was refused: ${reason}`);
});

/** A journal of one provider, and the tables that are made from it. */
export class MarketDataStore {
  readonly clock = new SystemClock();
  readonly shard: number;
  private readonly half: number;
  private projector: Projector<StoredMarket> | undefined;

  private constructor(
    readonly pool: Pool,
    readonly stream: StreamOf,
    /** The position of the last record. */
    readonly last: number,
  ) {
    this.shard = PROVIDERS.indexOf(stream.provider);
    this.half = last - Math.floor(stream.trades / 2);
  }

  static async open(database: BenchDatabase, stream: StreamOf): Promise<MarketDataStore> {
    const pool = openPool(database.url, { applicationName: 'bench-market-data', max: 8 });
    const journal = new PostgresJournal({
      ...{ family: 'data', url: database.url, clock: new SystemClock(), opener: 'bench' },
    });
    const writer = await journal.open(PROVIDERS.indexOf(stream.provider));
    await writer.append(marketsOf(stream).map(writeRecord));
    const payloads: string[] = [];
    for (const trade of tradesOf(stream)) {
      payloads.push(writeRecord(trade));
      if (payloads.length === APPEND) await writer.append(payloads.splice(0));
    }
    if (payloads.length > 0) await writer.append(payloads);
    const last = writer.head.sequence;
    await writer.close();
    await pool.query('analyze journal.records');
    return new MarketDataStore(pool, stream, last);
  }

  get reader(): PostgresJournalReader {
    return new PostgresJournalReader(this.pool, 'data');
  }

  /** Projects the markets and the first half of the trades into empty tables. */
  async begin(): Promise<void> {
    await this.empty();
    this.projector = new Projector(PROJECTION, {
      inTransaction: transactionsOf(this.pool),
      clock: this.clock,
    });
    await this.projector.replay(this.reader, this.shard, { from: 0, to: this.half });
  }

  /**
   * Projects the second half in batches of this size, each in one transaction with its position. Resolves
   * with trades per second.
   */
  async project(batch: number): Promise<number> {
    const { projector, half, last } = this;
    if (projector === undefined) throw new Error('nothing has begun');
    const begun = performance.now();
    let position = half;
    while (position < last) {
      const entries = await this.reader.read(this.shard, position + 1, Math.min(batch, last - position));
      position = await projector.take(this.shard, entries);
    }
    return ((last - half) * MILLIS_PER_SECOND) / (performance.now() - begun);
  }

  /** Empties all tables that are made from the journal. */
  async empty(): Promise<void> {
    const tables = tablesOf(PROJECTION).map((table) => qualified(table));
    await this.pool.query(`truncate ${tables.join(', ')}`);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}
