import type { Pool } from 'pg';
import type { BookState } from '../rules/books.js';
import type { BookLevel } from '../rules/events.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';

/** Names a book by market and outcome. The market need not be listed. */
export interface BookKey {
  readonly market_id: string;
  readonly outcome_index: number;
}

export interface StoredBook extends BookKey {
  readonly book: BookState;
}

interface BookRow extends BookKey {
  readonly source_ts: number;
  readonly sequence: string;
  readonly is_dropped: boolean;
  readonly bids: readonly LevelRow[];
  readonly asks: readonly LevelRow[];
}

type LevelRow = readonly [price: number, size: string];

/** Stores the newest state of each book. */
export class BookTable {
  constructor(private readonly pool: Pool) {}

  async find(provider: Provider, marketIds: readonly string[]): Promise<StoredBook[]> {
    const { rows } = await this.pool.query<BookRow>(
      `select market_id, outcome_index, source_ts, sequence::text, is_dropped, bids, asks
       from data.books where provider = $1 and market_id = any ($2::text[])`,
      [PROVIDERS.indexOf(provider), marketIds],
    );
    return rows.map(({ market_id, outcome_index, source_ts, sequence, is_dropped, bids, asks }) => ({
      ...{ market_id, outcome_index },
      book: {
        ...{ source_ts, sequence: BigInt(sequence), isDropped: is_dropped },
        ...{ bids: bids.map(levelOf), asks: asks.map(levelOf) },
      },
    }));
  }

  async write(provider: Provider, books: readonly StoredBook[]): Promise<void> {
    if (books.length === 0) return;
    const states = books.map(({ book }) => book);
    await this.pool.query(
      `insert into data.books (provider, market_id, outcome_index, source_ts, sequence, is_dropped, bids, asks)
       select $1, market_id, outcome_index, source_ts, sequence, is_dropped, bids::jsonb, asks::jsonb
       from unnest($2::text[], $3::smallint[], $4::bigint[], $5::numeric[], $6::boolean[], $7::text[], $8::text[])
         as book (market_id, outcome_index, source_ts, sequence, is_dropped, bids, asks)
       on conflict (provider, market_id, outcome_index) do update set source_ts = excluded.source_ts,
         sequence = excluded.sequence, is_dropped = excluded.is_dropped, bids = excluded.bids, asks = excluded.asks`,
      [
        ...[PROVIDERS.indexOf(provider), books.map(({ market_id }) => market_id)],
        ...[books.map(({ outcome_index }) => outcome_index), states.map(({ source_ts }) => source_ts)],
        ...[states.map(({ sequence }) => sequence), states.map(({ isDropped }) => isDropped)],
        ...[states.map(({ bids }) => levelsJson(bids)), states.map(({ asks }) => levelsJson(asks))],
      ],
    );
  }
}

function levelOf([price, size]: LevelRow): BookLevel {
  return { price, size: BigInt(size) };
}

function levelsJson(levels: readonly BookLevel[]): string {
  return JSON.stringify(levels.map(({ price, size }) => [price, size.toString()]));
}
