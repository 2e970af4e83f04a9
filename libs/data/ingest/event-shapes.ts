import { enumOf, integer } from '#libs/edge/decoding/decode-scalars.js';
import { arrayOf, nullable, object, type Decoder } from '#libs/edge/decoding/decode.js';
import { LEDGER_KINDS, MARKET_STATUSES } from '../rules/events.js';
import {
  anyObject,
  anything,
  cash,
  flag,
  id,
  kept,
  level,
  name,
  price,
  provider,
  quote,
  rate,
  sequence,
  size,
  time,
  timeText,
  wallet,
  words,
} from './event-fields.js';

const MOST_OUTCOMES = 64;

/** The fields of every line. Games and ticks have a label in place of a provider. */
const ENVELOPE = { provider, source_id: id, source_ts: time };
const LABELLED = { provider: id, source_id: id, source_ts: time };
const OF_MARKET = { ...ENVELOPE, market_id: id };

const outcomeIndex: Decoder<number> = integer(0, MOST_OUTCOMES - 1);

const CONTRACT = object({
  optional: {
    tick_size: price,
    min_price: price,
    max_price: price,
    lot_size: size,
    quote_currency: words,
    bands: arrayOf(object({ required: { start: price, end: price, step: price } })),
  },
});

const RULES = object({
  optional: { primary: nullable(words), secondary: nullable(words), source: nullable(words) },
});

export const MARKET = object({
  required: {
    ...OF_MARKET,
    name,
    outcomes: arrayOf(object({ required: { label: name }, optional: { token_id: id } }), {
      max: MOST_OUTCOMES,
    }),
  },
  optional: {
    status: enumOf(MARKET_STATUSES),
    ...{ condition_id: id, event_id: id, event_name: words, event_url: words },
    ...{ series_key: words, series_title: words, ticker: words, slug: words, description: words },
    ...{ category: words, subcategory: words, tags: arrayOf(object({ required: { id, name: words } })) },
    ...{ listed_at: time, expires_at: time, settlement_ts: time },
    ...{ image: words, icon: words, banner: words, external_url: words },
    ...{ ctf_neg_risk: flag, raw: anyObject, extra: anyObject },
    ...{ resolution_rules: RULES, contract: CONTRACT },
    ...{ crypto: anyObject, sports: anyObject, combo: anyObject, terms: anyObject },
  },
});

export const STATUS = object({ required: { ...OF_MARKET, status: enumOf(MARKET_STATUSES) } });

export const TRADE = object({
  required: { provider, source_id: id, market_id: id, outcome_index: outcomeIndex, price, size },
  optional: {
    source_ts: time,
    side: enumOf(['buy', 'sell']),
    seq: sequence,
    maker: wallet,
    taker: wallet,
    tx_hash: id,
  },
});

export const TRADE_BUST = object({ required: { ...ENVELOPE, trade_source_id: id } });

export const BOOK = object({
  required: {
    ...OF_MARKET,
    outcome_index: outcomeIndex,
    sequence,
    snapshot: flag,
    bids: arrayOf(level),
    asks: arrayOf(level),
  },
});

export const LEDGER = object({
  required: { ...OF_MARKET, wallet, kind: enumOf(LEDGER_KINDS), size },
  optional: { outcome_index: outcomeIndex, price, fee: cash, seq: sequence, tx_hash: id },
});

export const RESOLUTION = object({
  required: {
    ...OF_MARKET,
    status: enumOf(['resolved', 'settled']),
    payouts: arrayOf(price, { max: MOST_OUTCOMES }),
  },
  optional: { source_url: words, disputed: flag },
});

const GAME_STATUSES = [
  'scheduled',
  'live',
  'break',
  'overtime',
  'shootout',
  'suspended',
  'delayed',
  'postponed',
  'cancelled',
  'final',
] as const;

const TEAM = object({ required: { name }, optional: { abbreviation: words, logo: words } });
const LOOSE_TEAM: Decoder<unknown> = kept(TEAM);

export const SCORE = object({
  required: {
    ...LABELLED,
    ...{ game_id: id, league: name, home: LOOSE_TEAM, away: LOOSE_TEAM },
    ...{ start_time: timeText, status: enumOf(GAME_STATUSES) },
  },
  optional: {
    ...{ slug: words, home_score: anything, away_score: anything, period: anything },
    ...{ period_number: anything, periods: anything, elapsed: anything, clock: anything },
    ...{ observed_at: words, feed: flag, bracket: anyObject },
  },
});

export const TICK = object({
  required: {
    ...LABELLED,
    source: enumOf(['exchange_spot', 'oracle_stream', 'reference']),
    class: enumOf(['crypto', 'equity', 'forex', 'commodity', 'perpetual']),
    symbol: id,
    price: quote,
  },
  optional: {
    change_pct: rate,
    index: quote,
    funding_rate: rate,
    next_funding_at: timeText,
    open_interest: quote,
  },
});
