import { printDecimal } from '#libs/base/decimals.js';
import { ONE_DOLLAR, type Level, type OutcomeIndex } from '../matching/order-book.js';
import type { PracticeVenueId, VenueOrder, VenueTrade } from '../venue/terms.js';
import type { ListedMarket, VenueReads } from '../venue/venue-reads.js';
import type { BookStyle } from '../venue/bot-quote.js';

const PLACES = 6;

function decimal(value: number): string {
  return printDecimal({ units: BigInt(value), scale: PLACES });
}

/** A market in the form of the service's own API. */
export function marketRecord(exchange_id: PracticeVenueId, { terms, status }: ListedMarket): object {
  const { market_id, title, neg_risk, outcomes, token_ids, grid, publishes_grid, shard, contract_id } = terms;
  const [first, ...more] = grid.bands;
  const bands = grid.bands.map(({ start, end, step }) => ({
    ...{ start: decimal(start), end: decimal(end), step: decimal(step) },
  }));
  const published = more.length === 0 && first !== undefined ? { tick_size: decimal(first.step) } : { bands };
  return {
    ...{ exchange_id, market_id, title, status, neg_risk },
    outcomes: outcomes.map((outcome, index) => ({
      ...{ index, outcome },
      ...(token_ids === undefined ? {} : { token_id: token_ids[index] }),
    })),
    ...(publishes_grid ? published : {}),
    min_size: decimal(grid.min_size),
    ...(shard === undefined ? {} : { shard }),
    closes_at: new Date(terms.closes_at).toISOString(),
    ...(contract_id === undefined ? {} : { contract_id }),
  };
}

/** Everything about a market. If each outcome has its own book, a book shows only the orders for its outcome. */
export function marketInFull(
  exchangeId: PracticeVenueId,
  market: ListedMarket,
  reads: VenueReads,
  style: BookStyle,
): object {
  const { market_id: id, outcomes } = market.terms;
  const levels = (outcome: OutcomeIndex, side: 'buy' | 'sell'): object[] =>
    reads.levels(id, outcome, side, style === 'one' ? 'market' : 'outcome').map(levelRecord);
  return {
    market: marketRecord(exchangeId, market),
    books: ([0, 1] as const).map((outcome) => ({
      outcome: outcomes[outcome],
      bids: levels(outcome, 'buy'),
      asks: levels(outcome, 'sell'),
    })),
    orders: reads.ordersIn(id).map((order) => orderRow(order, outcomes)),
    trades: reads.trades(id).map((trade) => tradeRow(trade, outcomes)),
  };
}

function levelRecord({ price, size, orders }: Level): object {
  return { price: decimal(price), quantity: decimal(size), orders };
}

const STATUS = { resting: 'open', executed: 'filled', cancelled: 'cancelled' } as const;

function orderRow(order: VenueOrder, outcomes: readonly [string, string]): object {
  return {
    exchange_order_id: order.order_id,
    ...(order.client_id === undefined ? {} : { client_order_id: order.client_id }),
    ...{ outcome: outcomes[order.outcome], side: order.side, price: decimal(order.price) },
    ...{ quantity: decimal(order.size), filled_quantity: decimal(order.filled) },
    status: order.cause === 'expired' ? 'expired' : STATUS[order.status],
  };
}

/** Prices are in dollars of the outcome that the taker traded. */
function tradeRow(
  { price, size, taker_outcome: outcome }: VenueTrade,
  outcomes: readonly [string, string],
): object {
  const own = outcome === 0 ? price : ONE_DOLLAR - price;
  return { price: decimal(own), quantity: decimal(size), outcome: outcomes[outcome] };
}
