import type { MarketEvent } from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';
import { FULL_PRICE } from '../../rules/scales.js';
import { isoTime, MICROS_PER_SECOND } from '../../rules/times.js';
import { longDate, tickerDate, timeOfDay } from './calendar.js';
import type { ClaimedMarket } from './claimed-markets.js';
import type { ClaimTerms } from './claims.js';
import { idsOf } from './identities.js';
import { lifeOf } from './life.js';
import { listingOf } from './listing.js';
import { wholePhase } from './phases.js';
import { Draws, keyOf } from './random.js';
import { quoteText, spotAt } from './ticks.js';

interface Interval {
  readonly name: string;
  readonly seconds: number;
  /** How long before the first start its windows begin. */
  readonly history: number;
  /** Seconds from one trade to the next. */
  readonly period: number;
  readonly venues: readonly Provider[];
}

const HOUR_SECONDS = 3_600;
const INTERVALS: readonly Interval[] = [
  { name: '5m', seconds: 300, history: 2 * HOUR_SECONDS, period: 100, venues: ['venue_a'] },
  { name: '15m', seconds: 900, history: 6 * HOUR_SECONDS, period: 300, venues: ['venue_a', 'venue_c'] },
  {
    ...{ name: '1h', seconds: HOUR_SECONDS, history: 24 * HOUR_SECONDS, period: 1_200 },
    venues: ['venue_a', 'venue_b', 'venue_c'],
  },
  {
    ...{ name: '1d', seconds: 24 * HOUR_SECONDS, history: 28 * 24 * HOUR_SECONDS, period: 43_200 },
    venues: ['venue_a', 'venue_b'],
  },
];

const SYMBOLS = [
  { symbol: 'BTC', name: 'Bitcoin' },
  { symbol: 'ETH', name: 'Ethereum' },
] as const;

/** How long after the end of the window a market is resolved and settled. */
const RESOLVES = 10;
const SETTLES = 60;
/** How long after the end its last events may come, such as redemptions. */
const AFTER = 3_600;

export interface WindowsBetween {
  readonly seed: string;
  readonly provider: Provider;
  /** The first start. All times here are unix seconds. */
  readonly start: number;
  readonly from: number;
  readonly until: number;
}

/** Markets on whether a coin rises within a time window, for windows that exist at any moment of the span. */
export function windowMarkets({ seed, provider, start, from, until }: WindowsBetween): ClaimedMarket[] {
  return INTERVALS.filter(({ venues }) => venues.includes(provider)).flatMap((interval) => {
    const { seconds, history } = interval;
    // Each market is listed one window ahead.
    const last = Math.floor((until - 1) / seconds) + 1;
    const oldest = Math.ceil((start - history) / seconds);
    const first = Math.max(oldest, Math.floor((from - AFTER) / seconds) - 1);
    const markets: ClaimedMarket[] = [];
    for (let window = first; window <= last; window += 1) {
      for (const coin of SYMBOLS) {
        markets.push(windowMarket(seed, { provider, interval, begins: window * seconds, ...coin }));
      }
    }
    return markets;
  });
}

interface CoinWindow {
  readonly provider: Provider;
  readonly interval: Interval;
  readonly symbol: string;
  readonly name: string;
  readonly begins: number;
}

function windowMarket(seed: string, window: CoinWindow): ClaimedMarket {
  const { provider, interval, symbol, begins } = window;
  const ends = begins + interval.seconds;
  const claim = `${symbol} ${interval.name} ${String(begins)}`;
  const key = keyOf(`${seed} ${provider} ${claim}`);
  const draws = new Draws(key);
  const isDown = provider === 'venue_c' && draws.oneIn(2);
  const direction = isDown ? 'down' : 'up';
  const terms = termsOf(window, isDown, ends);
  const event = `${symbol}${interval.name.toUpperCase()}-${tickerDate(begins * MICROS_PER_SECOND)}`;
  const ticker = `${event}${timeOfDay(begins * MICROS_PER_SECOND).replace(':', '')}`;
  const labels = provider === 'venue_b' ? ['Yes', 'No'] : isDown ? ['Down', 'Up'] : ['Up', 'Down'];
  const ids = idsOf(provider, { seed, key: claim, ticker }, labels);
  const listedAt = begins - interval.seconds;
  const crypto = {
    symbol,
    interval: interval.name,
    window_start: isoTime(begins * MICROS_PER_SECOND),
    direction,
  };
  const listing = listingOf(
    {
      ...{ title: titleOf(window, isDown, ends), ticker, crypto, rulesSource: 'spot index' },
      rules: `Pays if the spot index of ${symbol} at the end of the window is ${isDown ? 'below' : 'at or above'} that at its start.`,
      event: { key: event, name: `${window.name} up or down, ${interval.name}` },
      series: { key: `${symbol}${interval.name.toUpperCase()}`, title: `${window.name} up or down` },
      ...{
        category: 'crypto',
        subcategory: window.name.toLowerCase(),
        tags: ['Crypto', window.name, interval.name],
      },
      ...(provider === 'venue_a' ? { terms: { ...terms } } : {}),
    },
    {
      ...{ provider, ids, listedAt: listedAt * MICROS_PER_SECOND },
      ...{
        expiresAt: ends * MICROS_PER_SECOND,
        settlesAt: (ends + SETTLES) * MICROS_PER_SECOND,
        tick: 10_000,
      },
    },
  );
  const isUp = spotAt(seed, symbol, ends) >= spotAt(seed, symbol, begins);
  const pays = isUp === isDown ? 0 : FULL_PRICE;
  const life = lifeOf(listing, {
    closes: ends * MICROS_PER_SECOND,
    resolves: (ends + RESOLVES) * MICROS_PER_SECOND,
    settles: (ends + SETTLES) * MICROS_PER_SECOND,
    payouts: [pays, FULL_PRICE - pays],
  });
  return {
    market: {
      ...{ provider, ...ids, key, listing, tick: 10_000, pace: symbol === 'BTC' ? 'steady' : 'thin' },
      life: provider === 'venue_b' ? withStrike(life, listing, { seed, symbol, begins }) : life,
      phases: wholePhase(listedAt, ends, interval.period),
      path: {
        ...{ key: keyOf(`${seed} ${claim}`), middle: FULL_PRICE / 2, isOpposite: isDown },
        ...{ apart: draws.between(-9, 9) * 1_000 },
        ending: { from: begins, until: ends, pays: isUp ? FULL_PRICE : 0 },
      },
    },
    ...{ claim: isDown ? `not ${claim}` : claim, opposite: isDown ? claim : `not ${claim}` },
    ...{
      kin: `window ${symbol} ${interval.name} ${String(Math.floor(begins / interval.seconds / 4))}`,
      terms,
    },
  };
}

function termsOf({ name, begins }: CoinWindow, isDown: boolean, ends: number): ClaimTerms {
  return {
    ...{ subjects: [{ name: name.toLowerCase() }], predicate: 'rises within' },
    ...{ comparator: isDown ? 'lt' : 'gte', numbers: ['0'], unit: 'percent' },
    period: {
      ...{ kind: 'during', from: isoTime(begins * MICROS_PER_SECOND) },
      to: isoTime(ends * MICROS_PER_SECOND),
    },
    ...{ observation: 'start to end', source: 'spot index' },
  };
}

function titleOf(
  { provider, interval, name, symbol, begins }: CoinWindow,
  isDown: boolean,
  ends: number,
): string {
  const [from, to] = [begins * MICROS_PER_SECOND, ends * MICROS_PER_SECOND];
  const span = `${timeOfDay(from)} to ${timeOfDay(to)} UTC`;
  if (provider === 'venue_b' && interval.name === '1d') {
    return `Will ${symbol} end ${longDate(from)} (UTC) higher than it began?`;
  }
  if (provider === 'venue_b') {
    return `Will ${symbol} be higher at ${timeOfDay(to)} than at ${timeOfDay(from)} UTC on ${longDate(from)}?`;
  }
  return isDown
    ? `${name} down from ${span} on ${longDate(from)}`
    : `${name} up or down, ${longDate(from)}, ${span}`;
}

/** The strike is known when the window begins. */
function withStrike(
  life: ClaimedMarket['market']['life'],
  listing: MarketEvent,
  { seed, symbol, begins }: { readonly seed: string; readonly symbol: string; readonly begins: number },
): ClaimedMarket['market']['life'] {
  const at = begins * MICROS_PER_SECOND;
  const crypto = { ...listing.crypto, strike: quoteText(spotAt(seed, symbol, begins)) };
  const begun: MarketEvent = {
    ...{ ...listing, source_id: `${listing.market_id}@strike`, source_ts: at, received_at: at, crypto },
  };
  return [listing, begun, ...life.slice(1)];
}
