import { FULL_PRICE } from '../../rules/scales.js';
import { floorTo, isoTime, MICROS_PER_SECOND } from '../../rules/times.js';
import {
  DAY,
  HOUR,
  longDate,
  monthAfter,
  monthName,
  plainDate,
  shortDate,
  tickerDate,
  yearOf,
} from './calendar.js';
import type { Claim } from './claims.js';

interface Coin {
  readonly name: string;
  readonly symbol: string;
  readonly strikes: readonly number[];
}

/** In dollars, near the quotes of `ticks`. */
const COINS: readonly Coin[] = [
  { name: 'Bitcoin', symbol: 'BTC', strikes: [85_000, 95_000, 105_000] },
  { name: 'Ethereum', symbol: 'ETH', strikes: [2_800, 3_200, 3_600] },
  { name: 'Solana', symbol: 'SOL', strikes: [140, 170, 200] },
];

const CHANCES = [780_000, 510_000, 240_000];
/** Ends of months, around the start. */
const MONTHS = [0, 1, 2, 4];

/** Claims about coin prices at the ends of months, and about prices reached at any time before. */
export function coinClaims(start: number): Claim[] {
  return MONTHS.flatMap((months) => {
    const ends = monthAfter(start, months) - MICROS_PER_SECOND;
    return COINS.flatMap((coin) =>
      coin.strikes.flatMap((strike, index) => {
        const price = CHANCES[index] ?? FULL_PRICE / 2;
        const level = levelClaim(coin, strike, ends, price);
        if (index !== 1) return [level];
        return [level, touchClaim(coin, strike, ends, price + 150_000), atLeast(level, strike)];
      }),
    );
  });
}

function levelClaim({ name, symbol }: Coin, strike: number, ends: number, price: number): Claim {
  const dollars = `$${strike.toLocaleString('en-US')}`;
  const day = longDate(ends);
  const ticker = `${symbol}D-${tickerDate(ends)}`;
  return {
    key: `${ticker}-T${String(strike)}`,
    kin: `coins ${symbol}`,
    event: { key: ticker, name: `${name} price on ${day}` },
    series: { key: `${symbol}D`, title: `${name} on a day` },
    ...{ category: 'crypto', subcategory: name.toLowerCase(), tags: ['Crypto', name] },
    terms: {
      ...{ subjects: [{ name: name.toLowerCase() }], predicate: 'price', comparator: 'gt' },
      ...{ numbers: [String(strike)], unit: 'usd', period: { kind: 'on', to: plainDate(ends) } },
      ...{ observation: 'close', source: 'spot index', instant: isoTime(ends), tie: 'no' },
    },
    titles: [
      `Will ${name} be above ${dollars} on ${day}?`,
      `${name} above ${dollars} at the end of ${shortDate(ends)}`,
      `${symbol} closes over ${String(strike)} USD on ${day}`,
    ],
    opposite: `Will ${name} be at or below ${dollars} on ${day}?`,
    rules: `Pays if the spot index of ${name} is strictly above ${dollars} at the close of ${day}, UTC. A price of exactly ${dollars} does not count.`,
    ticker: `${ticker}-T${String(strike)}`,
    ...{ ends, price },
  };
}

/** At any time until then: reaching the price once is enough. */
function touchClaim(coin: Coin, strike: number, ends: number, price: number): Claim {
  const level = levelClaim(coin, strike, ends, price);
  const dollars = `$${strike.toLocaleString('en-US')}`;
  const day = longDate(ends);
  return {
    ...level,
    ...{ key: `${level.key}-BY`, ticker: `${level.ticker}BY` },
    terms: {
      ...{ ...level.terms, comparator: 'gte', observation: 'high' },
      period: { kind: 'by', to: plainDate(ends) },
    },
    titles: [
      `Will ${coin.name} reach ${dollars} by ${day}?`,
      `${coin.name} hits ${dollars} before the end of ${shortDate(ends)}`,
      `${coin.symbol} touches ${String(strike)} USD by ${day}`,
    ],
    opposite: `Will ${coin.name} stay below ${dollars} through ${day}?`,
    rules: `Pays if the spot index of ${coin.name} is at or above ${dollars} at any moment until the end of ${day}, UTC.`,
  };
}

function atLeast(level: Claim, strike: number): Claim {
  const dollars = `$${strike.toLocaleString('en-US')}`;
  return {
    ...level,
    ...{ key: `${level.key}-GE`, ticker: `${level.ticker}GE` },
    terms: { ...level.terms, comparator: 'gte' },
    titles: [
      level.titles[0].replace('above', 'at least'),
      `${level.event.name}: ${dollars} or more`,
      `${level.event.name}: at least ${dollars}`,
    ],
    opposite: level.titles[0].replace('above', 'below'),
    rules: level.rules.replace('strictly above', 'at or above').replace('does not count', 'counts'),
  };
}

const RATE_STEPS = [
  { step: 'cut', predicate: 'cuts rates', numbers: ['25'], comparator: 'eq', price: 520_000 },
  { step: 'hold', predicate: 'holds rates', numbers: [], comparator: 'none', price: 350_000 },
  { step: 'raise', predicate: 'raises rates', numbers: ['25'], comparator: 'eq', price: 60_000 },
  { step: 'any cut', predicate: 'cuts rates', numbers: ['0'], comparator: 'gt', price: 600_000 },
] as const;

/** Claims about the central bank's decisions. */
export function rateClaims(start: number): Claim[] {
  return MONTHS.flatMap((months) => {
    const ends = monthAfter(start, months) - 13 * DAY + 19 * HOUR;
    const meeting = `${monthName(ends)} ${String(yearOf(ends))}`;
    const event = `FEDRATE-${tickerDate(ends).slice(0, 5)}`;
    return RATE_STEPS.map(({ step, predicate, numbers, comparator, price }) => ({
      key: `${event}-${step}`,
      kin: 'rates',
      event: { key: event, name: `Central bank decision in ${meeting}` },
      series: { key: 'FEDRATE', title: 'Central bank decisions' },
      ...{ category: 'economics', subcategory: 'rates', tags: ['Economics', 'Rates'] },
      terms: {
        ...{ subjects: [{ name: 'federal reserve' }], predicate, comparator, numbers },
        ...{ unit: 'bps', period: { kind: 'on', to: plainDate(ends) }, scope: 'target range' },
        ...{ source: 'statement of the bank', instant: isoTime(ends), void: 'meeting moved' },
      },
      titles: [
        `Federal Reserve: ${step}${numbers[0] === '25' ? ' of 25 bps' : ''} at the ${meeting} meeting?`,
        `Fed decision in ${meeting}: ${step}${numbers[0] === '25' ? ' 25 bps' : ''}`,
        `Will the Fed ${step === 'any cut' ? 'cut' : step} in ${meeting}?`,
      ],
      rules: `Pays if the Federal Reserve ${predicate} at its meeting in ${meeting}${numbers[0] === '25' ? ' by exactly 25 basis points' : ''}.`,
      ticker: `${event}-${step.replace(' ', '').toUpperCase()}`,
      ...{ ends, price },
    }));
  });
}

const INFLATION = ['2.4', '2.6', '2.8'];

export function inflationClaims(start: number): Claim[] {
  return MONTHS.flatMap((months) => {
    const [from, ends] = [monthAfter(start, months - 1), monthAfter(start, months) + 11 * DAY];
    const month = `${monthName(from)} ${String(yearOf(from))}`;
    const event = `CPIYOY-${tickerDate(from).slice(0, 5)}`;
    return INFLATION.map((strike, index) => ({
      key: `${event}-T${strike}`,
      kin: 'inflation',
      event: { key: event, name: `Inflation in ${month}` },
      series: { key: 'CPIYOY', title: 'Inflation by month' },
      ...{ category: 'economics', subcategory: 'inflation', tags: ['Economics', 'Inflation'] },
      terms: {
        ...{ subjects: [{ name: 'us cpi' }], predicate: 'year over year', comparator: 'gt' as const },
        ...{ numbers: [strike], unit: 'percent' },
        period: { kind: 'during' as const, from: plainDate(from), to: plainDate(monthAfter(from, 1)) },
        ...{ observation: 'first print', source: 'bureau of statistics' },
      },
      titles: [
        `Will inflation be above ${strike}% in ${month}?`,
        `CPI year over year above ${strike}% for ${month}`,
        `US inflation rate over ${strike} % (${month})`,
      ],
      opposite: `Will inflation be ${strike}% or lower in ${month}?`,
      rules: `Pays if consumer prices in ${month} are more than ${strike}% above those of a year before, by the first print.`,
      ticker: `${event}-T${strike}`,
      ...{ ends, price: CHANCES[index] ?? FULL_PRICE / 2 },
    }));
  });
}

const CITIES = [
  { city: 'Lisbon', strikes: [16, 19] },
  { city: 'Oslo', strikes: [0, 3] },
  { city: 'Chicago', strikes: [2, 6] },
] as const;

/** Claims about a day's highest temperature, and about its mean, which is a different claim. */
export function weatherClaims(start: number): Claim[] {
  return [-6, 5, 12].flatMap((days) => {
    const day = floorTo(start, DAY) + days * DAY;
    const ends = day + DAY;
    return CITIES.flatMap(({ city, strikes }) =>
      strikes.flatMap((strike, index) => {
        const high = weatherClaim(city, { strike, day, ends, observation: 'high' });
        return index === 0 ? [high] : [high, weatherClaim(city, { strike, day, ends, observation: 'mean' })];
      }),
    );
  });
}

interface Reading {
  readonly strike: number;
  readonly day: number;
  readonly ends: number;
  readonly observation: 'high' | 'mean';
}

function weatherClaim(city: string, { strike, day, ends, observation }: Reading): Claim {
  const what = observation === 'high' ? 'highest temperature' : 'mean temperature';
  const event = `${city.slice(0, 3).toUpperCase()}T-${tickerDate(day)}`;
  const suffix = observation === 'high' ? '' : 'M';
  return {
    key: `${event}-${String(strike)}${suffix}`,
    kin: `weather ${city}`,
    event: { key: event, name: `Temperature in ${city} on ${longDate(day)}` },
    series: { key: `${city.slice(0, 3).toUpperCase()}T`, title: `Temperature in ${city}` },
    ...{ category: 'science', subcategory: 'weather', tags: ['Weather', city] },
    terms: {
      ...{ subjects: [{ name: city.toLowerCase() }], predicate: 'temperature', comparator: 'gt' },
      ...{ numbers: [String(strike)], unit: 'celsius', period: { kind: 'on', to: plainDate(day) } },
      ...{ observation, source: `${city.toLowerCase()} central station` },
    },
    titles: [
      `Will the ${what} in ${city} be above ${String(strike)}°C on ${longDate(day)}?`,
      `${city} ${what} over ${String(strike)} °C on ${shortDate(day)}`,
      `${city}, ${shortDate(day)}: ${what} above ${String(strike)} degrees`,
    ],
    opposite: `Will the ${what} in ${city} be ${String(strike)}°C or less on ${longDate(day)}?`,
    rules: `Pays if the ${what} of ${longDate(day)} at the station of ${city} is above ${String(strike)} degrees Celsius.`,
    ticker: `${event}-${String(strike)}${suffix}`,
    ...{ ends, price: observation === 'high' ? 560_000 : 330_000 },
  };
}
