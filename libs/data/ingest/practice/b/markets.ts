import type { ListingStatus, ResolutionEvent } from '../../../rules/events.js';
import { FULL_PRICE } from '../../../rules/scales.js';
import { isoTime } from '../../../rules/times.js';
import type { SeenMarket } from '../protocol.js';
import { BadBody } from '../reading.js';
import type { MarketOfB } from './shapes.js';

/** A hundredth of a contract. */
const LOT = 10_000n;
const OUR_STATUS: Readonly<Record<MarketOfB['status'], ListingStatus>> = {
  active: 'open',
  initialized: 'closed',
  inactive: 'closed',
  closed: 'closed',
  determined: 'closed',
  disputed: 'closed',
  amended: 'closed',
  finalized: 'closed',
};

export function seenMarket(market: MarketOfB): SeenMarket {
  const resolution = resolutionOf(market);
  const { settlement_ts: settled } = market;
  return {
    terms: termsOf(market),
    status: OUR_STATUS[market.status],
    ...(resolution === undefined ? {} : { resolution }),
    changed_at: market.updated_time,
    ...(settled === undefined || settled === null ? {} : { resolved_at: settled }),
    last_price: market.last_price_dollars,
    ...(market.volume_fp === undefined ? {} : { volume: market.volume_fp }),
  };
}

export function termsOf(market: MarketOfB): SeenMarket['terms'] {
  const { ticker, event_ticker, settlement_ts: settled } = market;
  return {
    ...{ market_id: ticker, ticker, event_id: event_ticker, name: market.title ?? market.yes_sub_title },
    outcomes: [{ label: 'Yes' }, { label: 'No' }],
    ...{ listed_at: market.created_time, expires_at: market.close_time },
    ...(settled === undefined || settled === null ? {} : { settlement_ts: settled }),
    resolution_rules: {
      primary: textOrNull(market.rules_primary),
      secondary: textOrNull(market.rules_secondary),
      source: null,
    },
    contract: contractOf(market),
    raw: rawOf(market),
  };
}

/** The venue's own fields, without those that change with every trade. */
function rawOf(market: MarketOfB): Record<string, unknown> {
  const { ticker, event_ticker, market_type, title, yes_sub_title, no_sub_title } = market;
  const { rules_primary, rules_secondary, price_level_structure } = market;
  return {
    ...{ ticker, event_ticker, market_type, ...(title === undefined ? {} : { title }) },
    ...{ yes_sub_title, no_sub_title, rules_primary, rules_secondary, price_level_structure },
    created_time: isoTime(market.created_time),
    open_time: isoTime(market.open_time),
    close_time: isoTime(market.close_time),
    latest_expiration_time: isoTime(market.latest_expiration_time),
  };
}

function contractOf({ price_ranges: bands }: MarketOfB): NonNullable<SeenMarket['terms']['contract']> {
  const [first] = bands;
  const last = bands.at(-1);
  const common = { lot_size: LOT, quote_currency: 'USD' };
  if (first === undefined || last === undefined) return common;
  return {
    ...common,
    tick_size: bands.reduce((least, { step }) => Math.min(least, step), first.step),
    min_price: first.start === 0 ? first.step : first.start,
    max_price: last.end === FULL_PRICE ? FULL_PRICE - last.step : last.end,
    bands,
  };
}

function resolutionOf(
  market: MarketOfB,
): Pick<ResolutionEvent, 'status' | 'payouts' | 'disputed'> | undefined {
  const payouts = payoutsOf(market);
  if (payouts === undefined) return undefined;
  switch (market.status) {
    case 'determined':
    case 'amended':
      return { status: 'resolved', payouts };
    case 'disputed':
      return { status: 'resolved', payouts, disputed: true };
    case 'finalized':
      return { status: 'settled', payouts };
    case 'initialized':
    case 'inactive':
    case 'active':
    case 'closed':
      return undefined;
  }
}

function payoutsOf({ result, settlement_value_dollars: value }: MarketOfB): readonly number[] | undefined {
  switch (result) {
    case '':
      return undefined;
    case 'yes':
      return [FULL_PRICE, 0];
    case 'no':
      return [0, FULL_PRICE];
    case 'scalar':
      if (value === undefined) throw new BadBody('settlement_value_dollars is missing');
      return [value, FULL_PRICE - value];
  }
}

function textOrNull(text: string): string | null {
  return text.trim() === '' ? null : text;
}
