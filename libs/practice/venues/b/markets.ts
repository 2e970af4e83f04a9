import { evenGrid } from '../../matching/grid.js';
import { ONE_DOLLAR } from '../../matching/order-book.js';
import type { MarketTerms, Millis, VenueTrade } from '../../venue/terms.js';
import type { ListedMarket, VenueReads } from '../../venue/venue-reads.js';
import type { NewMarket } from '../venue-shell.js';
import { count, dollars } from './fixed-point.js';

const CENT = 10_000;
/** A hundredth of a share. */
const SMALLEST = 10_000;
const GRID = evenGrid(CENT, { min_size: SMALLEST, size_step: SMALLEST });
const YEAR_MS = 365 * 86_400_000;
const OUTCOMES: readonly [string, string] = ['Yes', 'No'];

/** A `contract_id` names a contract that the auctions trade. */
const SEEDS: readonly (Pick<MarketTerms, 'market_id' | 'title' | 'contract_id'> & {
  readonly shard: number;
})[] = [
  seed('KXRATECUT-26JUN', 'Central bank cuts rates in June', 0, 'b-rate-cut-june'),
  seed('KXBUDGET-26REC', 'Budget passed before the recess', 1, 'b-budget-passed'),
  seed('KXRUNOFF-26PRES', 'The election goes to a run-off', 0, 'b-election-runoff'),
  seed('KXTURNOUT-26T60', 'Turnout above 60 %', 1, 'b-turnout-above-60'),
  seed('KXSNOW-26DEC', 'Snow in the capital on Christmas Day', 0),
  seed('KXTRAIN-26Q4', 'The night train runs again', 1),
  seed('KXCUP-26FAV', 'The favourite wins the cup', 0, 'b-cup-favourite'),
  seed('KXSTRIKE-26DOCK', 'The dockers do not strike', 1, 'b-strike-averted'),
  seed('KXTREATY-26SIGN', 'The treaty is signed', 0, 'b-treaty-signed'),
  seed('KXCOURT-26RULE', 'The court upholds the ruling', 1, 'b-court-upholds'),
];

function seed(market_id: string, title: string, shard: number, contract_id?: string): (typeof SEEDS)[number] {
  return { market_id, title, shard, ...(contract_id === undefined ? {} : { contract_id }) };
}

export function seedsOfB(now: Millis): readonly MarketTerms[] {
  return SEEDS.map((market) => ({
    ...{ ...market, neg_risk: false, outcomes: OUTCOMES, grid: GRID, publishes_grid: true },
    ...{ listed_at: now, closes_at: now + YEAR_MS, seeded: true },
  }));
}

export function newMarketOfB(
  ticker: string,
  { title = ticker, neg_risk, shard = 0 }: NewMarket,
  now: Millis,
): Omit<MarketTerms, 'publishes_grid' | 'closes_at' | 'seeded'> {
  return { market_id: ticker, title, neg_risk, outcomes: OUTCOMES, grid: GRID, shard, listed_at: now };
}

const STATUS = { open: 'active', halted: 'inactive', closed: 'closed', resolved: 'finalized' } as const;
/** Status words in the filter of the list of markets. */
const FILTER = { open: 'open', halted: 'paused', closed: 'closed', resolved: 'settled' } as const;

export function isListed({ status }: ListedMarket, filter: string | null): boolean {
  return filter === null || filter === '' || filter.split(',').includes(FILTER[status]);
}

export function eventOf(ticker: string): string {
  return ticker.slice(0, Math.max(0, ticker.lastIndexOf('-'))) || ticker;
}

/** `neg_risk` and `contract_id` are ours. The published record has no such fields. */
export function marketRecord(
  { terms, status, payouts, resolved_at, changed_at }: ListedMarket,
  reads: VenueReads,
): object {
  const { market_id: ticker, title, listed_at, closes_at, shard, contract_id, grid } = terms;
  const best = (outcome: 0 | 1, side: 'buy' | 'sell'): { readonly price: string; readonly size: string } => {
    const [level] = reads.levels(ticker, outcome, side);
    return {
      price: dollars(level?.price ?? (side === 'buy' ? 0 : ONE_DOLLAR)),
      size: count(level?.size ?? 0),
    };
  };
  const [yesBid, yesAsk] = [best(0, 'buy'), best(0, 'sell')];
  const trades = reads.trades(ticker);
  const volume = trades.reduce((sum, { size }) => sum + size, 0);
  const last = dollars(trades.at(-1)?.price ?? 0);
  const listed = instant(listed_at);
  const closes = instant(closes_at);
  return {
    ...{ ticker, event_ticker: eventOf(ticker), market_type: 'binary', title },
    ...{ yes_sub_title: title, no_sub_title: title, status: STATUS[status], exchange_index: shard ?? 0 },
    ...{ created_time: listed, updated_time: instant(changed_at), open_time: listed, close_time: closes },
    ...{ latest_expiration_time: closes, expiration_time: closes, settlement_timer_seconds: 0 },
    ...{ yes_bid_dollars: yesBid.price, yes_bid_size_fp: yesBid.size },
    ...{ yes_ask_dollars: yesAsk.price, yes_ask_size_fp: yesAsk.size },
    ...{ no_bid_dollars: best(1, 'buy').price, no_ask_dollars: best(1, 'sell').price },
    ...{ last_price_dollars: last, previous_price_dollars: last },
    ...{ previous_yes_bid_dollars: yesBid.price, previous_yes_ask_dollars: yesAsk.price },
    ...{ volume_fp: count(volume), volume_24h_fp: count(volume), open_interest_fp: count(0) },
    ...{ notional_value_dollars: dollars(ONE_DOLLAR), can_close_early: true, expiration_value: '' },
    ...{ result: resultOf(payouts), rules_primary: title, rules_secondary: '' },
    ...(payouts === undefined ? {} : { settlement_value_dollars: dollars(payouts[0]) }),
    ...(resolved_at === undefined ? {} : { settlement_ts: instant(resolved_at) }),
    price_level_structure: terms.publishes_grid ? 'practice' : '',
    price_ranges: terms.publishes_grid
      ? grid.bands.map(({ start, end, step }) => ({
          start: dollars(start),
          end: dollars(end),
          step: dollars(step),
        }))
      : [],
    ...{ neg_risk: terms.neg_risk, ...(contract_id === undefined ? {} : { contract_id }) },
  };
}

/** Bids of each outcome, the best last. */
export function bookRecord(
  ticker: string,
  depth: number,
  reads: VenueReads,
): { readonly yes_dollars: string[][]; readonly no_dollars: string[][] } {
  const side = (outcome: 0 | 1): string[][] =>
    reads
      .levels(ticker, outcome, 'buy')
      .slice(0, depth)
      .reverse()
      .map(({ price, size }) => [dollars(price), count(size)]);
  return { yes_dollars: side(0), no_dollars: side(1) };
}

export function tradeRecord(trade: VenueTrade): object {
  const isYes = (trade.taker_outcome === 0) === (trade.taker_side === 'buy');
  return {
    ...{ trade_id: trade.trade_id, ticker: trade.market_id, count_fp: count(trade.size) },
    ...{ yes_price_dollars: dollars(trade.price), no_price_dollars: dollars(ONE_DOLLAR - trade.price) },
    ...{ taker_side: isYes ? 'yes' : 'no', taker_outcome_side: isYes ? 'yes' : 'no' },
    ...{ taker_book_side: isYes ? 'bid' : 'ask', created_time: instant(trade.at), is_block_trade: false },
  };
}

export function resultOf(payouts: readonly [number, number] | undefined): 'yes' | 'no' | 'scalar' | '' {
  if (payouts === undefined) return '';
  if (payouts[0] === ONE_DOLLAR) return 'yes';
  return payouts[1] === ONE_DOLLAR ? 'no' : 'scalar';
}

export function instant(millis: Millis): string {
  return new Date(millis).toISOString();
}
