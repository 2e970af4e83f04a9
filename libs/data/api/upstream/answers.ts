import { microsOfDecimal, FULL_PRICE, MILLION } from '../../rules/scales.js';
import { microsOfTime, MICROS_PER_SECOND } from '../../rules/times.js';
import type { CountedTrade } from '../../rules/trades.js';

/** A market as its venue answers a live read. Missing values are null. */
export interface AnsweredMarket {
  readonly id: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly rules_primary: string | null;
  readonly rules_secondary: string | null;
  readonly rules_source: string | null;
  /** Micro-dollars, like the other prices. */
  readonly tick_size: number | null;
  readonly min_price: number | null;
  readonly max_price: number | null;
  /** Millionths of a contract. */
  readonly lot_size: bigint | null;
  readonly quote_currency: string | null;
  /** Microseconds. */
  readonly expires_at: number | null;
  readonly icon: string | null;
  readonly banner: string | null;
  readonly url: string | null;
  readonly active: boolean | null;
  readonly outcomes: readonly AnsweredOutcome[];
  readonly event_id: string | null;
  readonly event_name: string | null;
}

export interface AnsweredOutcome {
  readonly label: string | null;
  readonly token_id: string | null;
  readonly price: number | null;
}

/** A trade as the venue sent it, and what is counted of it. Outcome and price are those of the taker's side. */
export interface LiveTrade extends CountedTrade {
  readonly ts: number;
  readonly raw: object;
}

export interface LiveTrades {
  readonly trades: readonly LiveTrade[];
  /** As the venue sent it. Null on the last page, and for a venue without pages. */
  readonly cursor: string | null;
}

/** A body that is not valid. Nothing of it is used. */
class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

type Members = Readonly<Record<string, unknown>>;

/** Undefined for a body that is not valid. */
export function readMarket(body: string): AnsweredMarket | undefined {
  return reading(body, (answer) => marketOf(membersOf(membersOf(answer).market)));
}

export function readTradesOfA(body: string): LiveTrades | undefined {
  return reading(body, (answer) => ({ trades: listOf(answer).map(tradeOfA), cursor: null }));
}

export function readTradesOfB(body: string): LiveTrades | undefined {
  return reading(body, (answer) => {
    const { trades, cursor } = membersOf(answer);
    return {
      trades: listOf(trades).map(tradeOfB),
      cursor: textOrNull(cursor) === '' ? null : textOrNull(cursor),
    };
  });
}

function reading<T>(body: string, read: (answer: unknown) => T): T | undefined {
  try {
    return read(JSON.parse(body));
  } catch (error) {
    if (error instanceof Unreadable || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function marketOf(market: Members): AnsweredMarket {
  return {
    ...{
      id: textOrNull(market.id),
      title: textOrNull(market.title),
      description: textOrNull(market.description),
    },
    rules_primary: textOrNull(market.rules_primary),
    rules_secondary: textOrNull(market.rules_secondary),
    rules_source: textOrNull(market.rules_source),
    tick_size: orNull(market.tick_size, priceOf),
    min_price: orNull(market.min_price, priceOf),
    max_price: orNull(market.max_price, priceOf),
    lot_size: orNull(market.lot_size, microsOf),
    quote_currency: textOrNull(market.quote_currency),
    expires_at: orNull(market.expires_at, timeOf),
    ...{ icon: textOrNull(market.icon), banner: textOrNull(market.banner), url: textOrNull(market.url) },
    active: orNull(market.active, flagOf),
    outcomes: (orNull(market.outcomes, listOf) ?? []).map(outcomeOf),
    ...{ event_id: textOrNull(market.event_id), event_name: textOrNull(market.event_name) },
  };
}

function outcomeOf(value: unknown): AnsweredOutcome {
  const { label, token_id, price } = membersOf(value);
  return { label: textOrNull(label), token_id: textOrNull(token_id), price: orNull(price, priceOf) };
}

function tradeOfA(value: unknown): LiveTrade {
  const raw = membersOf(value);
  const { price, size, timestamp, outcomeIndex } = raw;
  return {
    ...{ raw, ts: secondsOf(timestamp), outcome_index: indexOf(outcomeIndex) },
    ...{ price: priceOf(price), size: microsOf(size) },
  };
}

function tradeOfB(value: unknown): LiveTrade {
  const raw = membersOf(value);
  const { price, count, taker_side, created_time } = raw;
  const ofYes = priceOf(price);
  const isYes = taker_side === 'yes';
  if (!isYes && taker_side !== 'no') throw new Unreadable('a side is neither yes nor no');
  return {
    ...{ raw, ts: timeOf(created_time), size: microsOf(count) },
    ...(isYes ? { outcome_index: 0, price: ofYes } : { outcome_index: 1, price: FULL_PRICE - ofYes }),
  };
}

function membersOf(value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Unreadable('no object');
  return { ...value };
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Unreadable('no list');
  return value;
}

function orNull<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === undefined || value === null ? null : read(value);
}

function textOrNull(value: unknown): string | null {
  return orNull(value, (value) => {
    if (typeof value !== 'string') throw new Unreadable('no text');
    return value;
  });
}

function flagOf(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Unreadable('neither true nor false');
  return value;
}

function timeOf(value: unknown): number {
  const micros = typeof value === 'string' ? microsOfTime(value) : undefined;
  if (micros === undefined) throw new Unreadable('no time');
  return micros;
}

/** A larger number is not in seconds. */
const LAST_SECOND = 253_402_300_799;

function secondsOf(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= LAST_SECOND))
    throw new Unreadable('no unix seconds');
  return Math.round(value * MICROS_PER_SECOND);
}

const MOST_OUTCOMES = 64;

function indexOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= MOST_OUTCOMES) {
    throw new Unreadable('no index of an outcome');
  }
  return value;
}

function priceOf(value: unknown): number {
  const micros = microsOf(value);
  if (micros > MILLION) throw new Unreadable('a price over one dollar');
  return Number(micros);
}

const PLAIN = /^\d{1,12}(?:\.\d{1,40})?$/;
const PLACES = 6;

/** Parses a number, or a decimal as text. Some venues compute values with more decimals, which are rounded. */
function microsOf(value: unknown): bigint {
  const number = typeof value === 'string' && PLAIN.test(value) ? Number(value) : value;
  const text = typeof number === 'number' && number >= 0 ? number.toFixed(PLACES) : '';
  const micros = microsOfDecimal(text);
  if (micros === undefined) throw new Unreadable('no amount');
  return micros;
}
