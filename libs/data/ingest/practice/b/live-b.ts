import { midPrice } from '../../../rules/books.js';
import { FULL_PRICE, contracts, unit } from '../../../rules/scales.js';
import { isoTime } from '../../../rules/times.js';
import { liveMarketOf } from '../../live-reads/live-market.js';
import type { ShownMarket, LivePageOfB, LivePageOfBRequest, LiveSource } from '../../live-reads/port.js';
import { liveReply, liveValue } from '../live-reads-of-venues.js';
import type { PublicReads, PublicReply } from '../public-reads.js';
import { seenMarket } from './markets.js';
import { oneMarket, tradePage, type MarketOfB } from './shapes.js';
import { takerOf } from './trades.js';

/** Anything else could be another path of the venue's API. */
const TICKER = /^[A-Z0-9][A-Z0-9._-]*$/;
const NOT_FOUND = 404;
const BAD_REQUEST = 400;

/** Reads venue_b while a caller waits. */
export class LiveB implements LiveSource {
  constructor(private readonly ports: { readonly reads: PublicReads; readonly url: string }) {}

  async market(id: string): Promise<ShownMarket | undefined> {
    if (!TICKER.test(id)) return undefined;
    const reply = await this.read(`markets/${id}`, {});
    if (reply.status === NOT_FOUND) return undefined;
    const { market } = liveValue('market', reply, oneMarket);
    return liveMarketOf(seenMarket(market).terms, {
      isActive: market.status === 'active',
      prices: pricesOf(market),
    });
  }

  async tradesOfB({ ticker, limit, cursor }: LivePageOfBRequest): Promise<LivePageOfB | undefined> {
    const query = { ticker, limit: String(limit), ...(cursor === undefined ? {} : { cursor }) };
    const reply = await this.read('markets/trades', query);
    if (reply.status === NOT_FOUND || reply.status === BAD_REQUEST) return undefined;
    const page = liveValue('trades', reply, tradePage);
    if (page.trades.length === 0 && (await this.market(ticker)) === undefined) return undefined;
    const trades = page.trades.map((trade) => ({
      ...{ trade_id: trade.trade_id, ticker: trade.ticker, price: unit(trade.yes_price_dollars) },
      ...{ count: contracts(trade.count_fp), taker_side: takerOf(trade) },
      created_time: isoTime(trade.created_time),
    }));
    return { trades, cursor: page.cursor };
  }

  private read(path: string, query: Readonly<Record<string, string>>): Promise<PublicReply> {
    const url = new URL(`${this.ports.url.replace(/\/+$/, '')}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return liveReply(this.ports.reads, { url });
  }
}

/** Prices of Yes and No: the payout if known, else the middle of a book with a narrow spread, else the last trade. */
function pricesOf(market: MarketOfB): readonly (number | null)[] {
  const { resolution } = seenMarket(market);
  if (resolution !== undefined) return resolution.payouts;
  const { yes_bid_dollars: bid, yes_ask_dollars: ask, last_price_dollars: last } = market;
  const sides = { bids: levelOf(bid, 0), asks: levelOf(ask, FULL_PRICE) };
  const price = midPrice(sides) ?? (last === 0 ? null : last);
  return price === null ? [null, null] : [price, FULL_PRICE - price];
}

function levelOf(price: number, none: number): { price: number; size: bigint }[] {
  return price === none ? [] : [{ price, size: 1n }];
}
