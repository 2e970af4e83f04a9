import type { z } from 'zod';
import { ONE, type Micros } from '../../rules/micros.js';
import type { MarketState, VenueMarket } from '../../rules/markets.js';
import type { VenueMarkets } from '../port.js';
import { NO, YES } from './amounts.js';
import type { VenueBRequests } from './requests.js';
import { bBook, bStatus, marketPage, oneMarket, readAs, type bMarket } from './shapes.js';

const PAGE = 200;
const SMALLEST = 10_000n;
/** Keeps a venue that returns endless pages from blocking us for ever. */
const MAX_PAGES = 500;

/** Our market state for each status of the venue. */
const STATES: Readonly<Record<string, MarketState>> = {
  active: 'open',
  initialized: 'halted',
  inactive: 'halted',
  closed: 'closed',
  determined: 'closed',
  disputed: 'closed',
  amended: 'closed',
  finalized: 'resolved',
  settled: 'resolved',
};

export class VenueBMarkets implements VenueMarkets {
  constructor(private readonly requests: VenueBRequests) {}

  async market(id: string): Promise<VenueMarket | undefined> {
    const body = await this.requests.read(`/markets/${encodeURIComponent(id)}`);
    return body === undefined ? undefined : marketOf(readAs(oneMarket, body).market);
  }

  async list(after: string | undefined, limit: number): Promise<readonly VenueMarket[]> {
    const found: VenueMarket[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const read = readAs(marketPage, await this.requests.read('/markets', { limit: PAGE, cursor }));
      found.push(...read.markets.map(marketOf));
      if (!read.cursor) break;
      cursor = read.cursor;
    }
    return found
      .sort((one, other) => (one.market_id < other.market_id ? -1 : 1))
      .filter(({ market_id }) => after === undefined || market_id > after)
      .slice(0, limit);
  }

  /** The book has bids only: a bid for one outcome is an offer of the other at one dollar less. */
  async best(
    market_id: string,
    outcome_index: number,
  ): Promise<{ readonly bid?: Micros; readonly ask?: Micros }> {
    const body = await this.requests.read(`/markets/${encodeURIComponent(market_id)}/orderbook`);
    const { orderbook_fp: book } = readAs(bBook, body);
    const [yes, no] = [highest(book.yes_dollars), highest(book.no_dollars)];
    const [own, other] = outcome_index === 0 ? [yes, no] : [no, yes];
    return {
      ...(own === undefined ? {} : { bid: own }),
      ...(other === undefined ? {} : { ask: ONE - other }),
    };
  }

  async status(): Promise<{ readonly exchange_active: boolean; readonly trading_active: boolean }> {
    return readAs(bStatus, await this.requests.read('/exchange/status'));
  }
}

function highest(levels: readonly (readonly [Micros, Micros])[] | null | undefined): Micros | undefined {
  return levels?.reduce<Micros | undefined>(
    (best, [price, count]) => (count > 0n && (best === undefined || price > best) ? price : best),
    undefined,
  );
}

function marketOf(market: z.infer<typeof bMarket>): VenueMarket {
  const bands = market.price_ranges ?? [];
  const [only, another] = bands;
  const isOneStep = only !== undefined && another === undefined;
  return {
    exchange_id: 'venue_b',
    market_id: market.ticker,
    title: market.title ?? market.ticker,
    status: STATES[market.status] ?? 'closed',
    neg_risk: market.neg_risk ?? false,
    outcomes: [YES, NO].map((outcome, index) => ({ index, outcome })),
    ...(isOneStep ? { tick_size: only.step } : bands.length === 0 ? {} : { bands }),
    min_size: SMALLEST,
    ...(market.exchange_index === undefined || market.exchange_index === null
      ? {}
      : { shard: market.exchange_index }),
    closes_at: market.close_time,
    ...(market.contract_id ? { contract_id: market.contract_id } : {}),
  };
}
