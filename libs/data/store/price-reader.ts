import type { Pool } from 'pg';
import { isFresh, mirroredBook, type BookState } from '../rules/books.js';
import { mirroredPrice } from '../rules/candles.js';
import { seriesOf } from '../rules/outcomes.js';
import type { Provider } from '../rules/providers.js';
import { outcomeLiquidity, referencePrice, type ReferencePrice } from '../rules/reference-price.js';
import { BookTable } from './book-table.js';
import { instrumentOf } from './instruments.js';
import type { StoredMarket } from './market-table.js';

/** The last trade that is not busted, in the order of trades. The price is that of the requested outcome. */
export interface LastTrade {
  readonly price: number;
  readonly ts: number;
}

/** The price of an outcome, with the book and the trade that it comes from. */
export interface OutcomeNow {
  readonly price: ReferencePrice | null;
  /** In micro-dollars; null without a fresh two-sided book. */
  readonly liquidity: bigint | null;
  /** The current book, stale or not; mirrored for the second outcome of a single-book market. */
  readonly book?: BookState;
  /** There is a book, but it is too old to make a price. */
  readonly isStale: boolean;
  readonly last?: LastTrade;
}

interface LastRow {
  readonly instrument: number;
  readonly price: number;
  readonly ts: number;
}

/**
 * The close of the newest day candle is the last trade of a series: candles exclude busts, and a single-book market has one series.
 */
const LAST_TRADES = `
  select series.instrument, last.price, last.ts
  from unnest($1::bigint[]) as series (instrument)
  cross join lateral (
    select close as price, close_ts as ts from data.candles candle
    where candle.instrument = series.instrument and timeframe = 86400
    order by bucket desc limit 1
  ) as last`;

/** Reads prices, books and last trades, for any number of markets in two queries. */
export class PriceReader {
  private readonly books: BookTable;

  constructor(private readonly pool: Pool) {
    this.books = new BookTable(pool);
  }

  /** By market number, then by outcome index. */
  async of(
    provider: Provider,
    markets: readonly StoredMarket[],
    now: number,
  ): Promise<ReadonlyMap<number, readonly OutcomeNow[]>> {
    if (markets.length === 0) return new Map();
    const [books, lasts] = await Promise.all([this.booksOf(provider, markets), this.lastTrades(markets)]);
    return new Map(
      markets.map((market) => {
        const { marketNo, state } = market;
        const outcomes = state.outcomes.map((_outcome, index) => {
          const series = seriesOf(provider, index).outcome_index;
          return outcomeNow(market, index, now, {
            book: books.get(bookName(state.market_id, series)),
            last: lasts.get(instrumentOf(marketNo, series)),
          });
        });
        return [marketNo, outcomes];
      }),
    );
  }

  private async booksOf(
    provider: Provider,
    markets: readonly StoredMarket[],
  ): Promise<ReadonlyMap<string, BookState>> {
    const found = await this.books.find(
      provider,
      markets.map(({ state }) => state.market_id),
    );
    return new Map(
      found.map(({ market_id, outcome_index, book }) => [bookName(market_id, outcome_index), book]),
    );
  }

  private async lastTrades(markets: readonly StoredMarket[]): Promise<ReadonlyMap<number, LastTrade>> {
    const instruments = new Set(
      markets.flatMap(({ marketNo, state: { provider, outcomes } }) =>
        outcomes.map((_outcome, index) => instrumentOf(marketNo, seriesOf(provider, index).outcome_index)),
      ),
    );
    const { rows } = await this.pool.query<LastRow>({
      name: 'data-last-trades',
      text: LAST_TRADES,
      values: [[...instruments]],
    });
    return new Map(rows.map(({ instrument, price, ts }) => [instrument, { price, ts }]));
  }
}

function bookName(marketId: string, outcomeIndex: number): string {
  return `${String(outcomeIndex)}:${marketId}`;
}

interface SeriesData {
  readonly book: BookState | undefined;
  readonly last: LastTrade | undefined;
}

function outcomeNow(
  { state }: StoredMarket,
  index: number,
  now: number,
  { book, last }: SeriesData,
): OutcomeNow {
  const { isMirrored } = seriesOf(state.provider, index);
  const series = { book, last: last?.price };
  return {
    price: referencePrice(state, index, series, now),
    liquidity: outcomeLiquidity(state, index, series, now),
    isStale: book !== undefined && !isFresh(book, now),
    ...(book === undefined ? {} : { book: isMirrored ? mirroredBook(book) : book }),
    ...(last === undefined
      ? {}
      : { last: isMirrored ? { ...last, price: mirroredPrice(last.price) } : last }),
  };
}
