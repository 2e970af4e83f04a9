import type { Clock } from '#libs/platform/time/clock.js';
import type { ListingStatus, MarketDataEvent, MarketEvent, TradeEvent } from '../../rules/events.js';
import { PROVIDER_FACTS, type Provider } from '../../rules/providers.js';
import { contracts, FULL_PRICE, unit } from '../../rules/scales.js';
import { floorTo, isoTime, MICROS_PER_SECOND } from '../../rules/times.js';
import { liveMarketOf } from '../live-reads/live-market.js';
import type {
  ShownMarket,
  LivePageOfB,
  LivePageOfBRequest,
  LiveSource,
  LiveTradeOfA,
  LiveTradeOfB,
} from '../live-reads/port.js';
import { DAY, HOUR } from './calendar.js';
import type { SeedMarket } from './market.js';
import { onGrid, outcomePrice, priceAt } from './prices.js';
import type { WorldKeeper } from './world-keeper.js';
import { eventsOfMoment } from './trading.js';
import { momentOf, turnOfTrade, turnsUntil } from './turns.js';

const NANOS_PER_MICRO = 1_000n;
/** A market that ended longer ago is found only if it lasted for days. */
const LOOKBACK = DAY;

/** Live reads of a venue of the seed, with the same data as its feed. */
export class SeedLiveSource implements LiveSource {
  readonly tradesOfA?: NonNullable<LiveSource['tradesOfA']>;
  readonly tradesOfB?: NonNullable<LiveSource['tradesOfB']>;

  constructor(
    private readonly provider: Provider,
    private readonly ports: {
      readonly clock: Clock;
      readonly worlds: WorldKeeper;
      /** Nothing is shown that its feed did not send. */
      readonly endsAtStart?: boolean;
    },
  ) {
    if (provider === 'venue_a') this.tradesOfA = (ids, limit) => this.pageOfA(ids, limit);
    if (provider === 'venue_b') this.tradesOfB = (page) => this.pageOfB(page);
  }

  async market(id: string): Promise<ShownMarket | undefined> {
    const now = await this.moment();
    const market = (await this.markets(now)).find((each) => isNamed(each, id));
    return market === undefined ? undefined : shownAt(market, now);
  }

  private async pageOfA(conditionIds: readonly string[], limit: number): Promise<readonly LiveTradeOfA[]> {
    const now = await this.moment();
    const wanted = new Set(conditionIds);
    const markets = await this.markets(now);
    return markets
      .filter(({ condition_id }) => condition_id !== undefined && wanted.has(condition_id))
      .flatMap((market) => newestTrades(market, now, limit).map((trade) => ({ market, trade })))
      .sort((left, right) => newestFirst(left.trade, right.trade))
      .slice(0, limit)
      .map(({ market, trade }) => tradeOfA(market, trade));
  }

  private async pageOfB({ ticker, limit, cursor }: LivePageOfBRequest): Promise<LivePageOfB | undefined> {
    const now = await this.moment();
    const market = (await this.markets(now)).find(({ market_id }) => market_id === ticker);
    if (market === undefined || (cursor !== undefined && !NUMBER.test(cursor))) return undefined;
    const before = cursor === undefined ? undefined : Number(cursor);
    const last = before === undefined ? undefined : turnOfTrade(market.pace, Math.max(0, before - 1));
    const trades = newestTrades(market, now, limit + MOST_AT_ONCE + 1, last)
      .filter(({ seq = 0n }) => before === undefined || Number(seq) < before)
      .sort(newestNumberFirst);
    const page = trades.slice(0, limit);
    return {
      trades: page.map((trade) => tradeOfB(trade)),
      cursor: trades.length > limit ? String(page.at(-1)?.seq ?? '') : '',
    };
  }

  private async markets(now: number): Promise<readonly SeedMarket[]> {
    const { world } = await this.ports.worlds.at(undefined);
    return (
      world
        // Whole hours, so that markets are generated once an hour.
        .marketsEver(this.provider, {
          from: floorTo(now, HOUR) - LOOKBACK,
          until: floorTo(now, HOUR) + HOUR,
        })
        .filter(({ listing }) => listing.received_at <= now)
    );
  }

  /** The time up to which data are shown. */
  private async moment(): Promise<number> {
    const { clock, worlds, endsAtStart } = this.ports;
    const now = Number(clock.epochNanos() / NANOS_PER_MICRO);
    if (endsAtStart !== true) return now;
    const { position } = await worlds.at(undefined);
    return Math.min(now, position.start - 1);
  }
}

const NUMBER = /^\d{1,9}$/;
/** The most trades of one turn. */
const MOST_AT_ONCE = 4;

function isNamed({ market_id, condition_id, outcomes, listing }: SeedMarket, id: string): boolean {
  return (
    [market_id, condition_id, listing.ticker].includes(id) || outcomes.some(({ token_id }) => token_id === id)
  );
}

function shownAt(market: SeedMarket, now: number): ShownMarket {
  const { listing, life, outcomes, path, tick, provider } = market;
  const sent = life.filter(({ received_at }) => received_at <= now);
  const details = sent.findLast(isMarket) ?? listing;
  const status = sent.reduce<ListingStatus>(
    (before, event) => ('status' in event ? (event.status ?? before) : before),
    PROVIDER_FACTS[provider].firstStatus,
  );
  const payouts = sent.findLast((event) => event.type === 'RESOLUTION')?.payouts;
  const first = priceAt(path, Math.floor(now / MICROS_PER_SECOND));
  return liveMarketOf(
    { ...details, outcomes },
    {
      isActive: status === 'open' || status === 'active',
      prices: outcomes.map(
        (_outcome, index) => payouts?.[index] ?? onGrid(outcomePrice(first, index, outcomes.length), tick),
      ),
    },
  );
}

function isMarket(event: MarketDataEvent): event is MarketEvent {
  return event.type === 'MARKET';
}

/** The newest trades up to `last`, without busted ones. */
function newestTrades(market: SeedMarket, now: number, limit: number, last?: number): readonly TradeEvent[] {
  const trades: TradeEvent[] = [];
  const newest = turnsUntil(market, now / MICROS_PER_SECOND) - 1;
  for (let turn = Math.min(last ?? newest, newest); turn >= 0 && trades.length < limit; turn -= 1) {
    trades.push(...tradesOfTurnAt(market, turn, now).sort(newestFirst));
  }
  return trades;
}

function tradesOfTurnAt(market: SeedMarket, turn: number, now: number): TradeEvent[] {
  const moment = momentOf(market, turn);
  if (moment === undefined) return [];
  const events = eventsOfMoment(market, moment).filter(({ received_at }) => received_at <= now);
  const busted = new Set(
    events.flatMap((event) => (event.type === 'TRADE_BUST' ? [event.trade_source_id] : [])),
  );
  return events.flatMap((event) => (event.type === 'TRADE' && !busted.has(event.source_id) ? [event] : []));
}

function newestFirst(left: TradeEvent, right: TradeEvent): number {
  return right.source_ts - left.source_ts || (left.source_id < right.source_id ? 1 : -1);
}

function newestNumberFirst({ seq: left = 0n }: TradeEvent, { seq: right = 0n }: TradeEvent): number {
  return left < right ? 1 : -1;
}

function tradeOfA({ outcomes, condition_id }: SeedMarket, trade: TradeEvent): LiveTradeOfA {
  const { taker, side, size, price, source_ts, outcome_index, tx_hash } = trade;
  const outcome = outcomes[outcome_index];
  return {
    ...{ proxyWallet: taker ?? null, side: side === 'sell' ? 'SELL' : 'BUY' },
    ...{ asset: outcome?.token_id ?? null, conditionId: condition_id ?? '' },
    ...{ size: contracts(size), price: unit(price), timestamp: Math.floor(source_ts / MICROS_PER_SECOND) },
    ...{ outcome: outcome?.label ?? '', outcomeIndex: outcome_index, transactionHash: tx_hash ?? null },
  };
}

/** Selling No counts as the side of Yes. */
function tradeOfB({
  source_id,
  market_id,
  price,
  size,
  side,
  source_ts,
  outcome_index,
}: TradeEvent): LiveTradeOfB {
  return {
    ...{ trade_id: source_id, ticker: market_id, count: contracts(size), created_time: isoTime(source_ts) },
    price: unit(outcome_index === 0 ? price : FULL_PRICE - price),
    taker_side: (outcome_index === 0) === (side !== 'sell') ? 'yes' : 'no',
  };
}
