import { expect } from '@jest/globals';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import type { MigrationClass } from '#libs/platform/database/migrate.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { dataMigrations } from '#libs/data/migrations/list.js';
import type { MarketDataEvent } from '#libs/data/rules/events.js';
import { PROVIDERS, type Provider } from '#libs/data/rules/providers.js';
import { dataProjection } from '#libs/data/ingest/projection.js';
import { ShardIngest } from '#libs/data/ingest/shard-ingest.js';
import { byKey, type SlowBucket } from './slow-fold.js';

export const clock = new SystemClock();
export const TABLES = dataProjection(() => undefined).tables;

/** A database with the journals and tables of market data, and the ingest that follows them. */
export class IngestWorld {
  readonly faults: unknown[] = [];
  readonly refused: string[] = [];
  private opened: ShardIngest[] = [];

  private constructor(readonly database: TestDatabase) {}

  /** `others`: migrations of other schemas that the database needs. */
  static async make(others: readonly MigrationClass[] = []): Promise<IngestWorld> {
    const migrations = new Set([...others, ...journalMigrations, ...dataMigrations]);
    return new IngestWorld(await createTestDatabase([...migrations]));
  }

  async end(): Promise<void> {
    await this.database.drop();
  }

  /** Empties all tables. */
  async empty(): Promise<void> {
    for (const each of this.opened) await each.stop();
    this.opened = [];
    this.faults.length = 0;
    this.refused.length = 0;
    const { rows } = await this.database.pool.query<{ list: string }>(
      `select string_agg(oid::regclass::text, ', ') as list from pg_class
       where relnamespace in ('data'::regnamespace, 'journal'::regnamespace) and relkind in ('r', 'p')
         and oid not in ('journal.life'::regclass)`,
    );
    await this.database.pool.query(`truncate ${rows[0]?.list ?? ''}`);
  }

  get journal(): PostgresJournal {
    const seals = new RecordMacs('data', [Buffer.alloc(32, 1)]);
    return new PostgresJournal({ family: 'data', url: this.database.url, clock, opener: 'ingest-0', seals });
  }

  get reader(): PostgresJournalReader {
    return new PostgresJournalReader(this.database.pool, 'data');
  }

  async open(provider: Provider | 'labels'): Promise<ShardIngest> {
    const shard = provider === 'labels' ? PROVIDERS.length : PROVIDERS.indexOf(provider);
    const ingest = await ShardIngest.open(shard, {
      ...{ pool: this.database.pool, clock, books: undefined, journal: this.journal, reader: this.reader },
      onFault: (_what, error) => this.faults.push(error),
      onRefused: (reason) => this.refused.push(reason),
    });
    this.opened.push(ingest);
    return ingest;
  }

  async ingestAll(
    provider: Provider,
    batches: readonly (readonly MarketDataEvent[])[],
  ): Promise<ShardIngest> {
    const ingest = await this.open(provider);
    await ingest.resume();
    await takeAll(ingest, batches);
    await applied(ingest);
    return ingest;
  }

  /** Every row of every projected table. */
  async rows(): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    for (const { schema, name, key } of TABLES) {
      const { rows } = await this.database.pool.query<{ row: string }>(
        `select t::text as row from ${schema}.${name} t order by ${key.join(', ')}`,
      );
      found[name] = rows.map(({ row }) => row);
    }
    return found;
  }

  async storedCandles(): Promise<SlowBucket[]> {
    const { rows } = await this.database.pool.query<SlowBucket>(
      `select concat_ws(' ', market_id, instrument % 64, timeframe, bucket) as key,
         concat_ws(' ', open, high, low, close, volume, cash, trades) as text
       from data.candles join data.markets on market_no = instrument / 64`,
    );
    return rows.sort(byKey);
  }

  async storedTrades(): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ text: string }>(
      `select concat_ws(' ', market_id, instrument % 64, ts, seq, source_id, price, size, coalesce(side, '-'), is_busted) as text
       from data.trades join data.markets on market_no = instrument / 64`,
    );
    return rows.map(({ text }) => text).sort();
  }
}

export async function takeAll(
  ingest: ShardIngest,
  batches: readonly (readonly MarketDataEvent[])[],
): Promise<void> {
  for (const [index, events] of batches.entries()) {
    await ingest.take('practice', { events, cursor: String(index), isCaughtUp: false });
  }
}

export async function applied(ingest: ShardIngest): Promise<void> {
  await eventually(() => expect(ingest.position).toBe(ingest.head));
}
