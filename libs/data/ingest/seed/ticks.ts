import type { TickEvent } from '../../rules/events.js';
import { isoTime, MICROS_PER_SECOND } from '../../rules/times.js';
import { keyOf, mixed } from './random.js';

interface Quoted {
  readonly symbol: string;
  readonly class: TickEvent['class'];
  /** In cents. */
  readonly price: number;
}

const COINS: readonly Quoted[] = [
  { symbol: 'BTC', class: 'crypto', price: 9_500_000 },
  { symbol: 'ETH', class: 'crypto', price: 320_000 },
  { symbol: 'SOL', class: 'crypto', price: 17_000 },
];
const REFERENCES: readonly Quoted[] = [
  { symbol: 'SPX', class: 'equity', price: 640_000 },
  { symbol: 'NDX', class: 'equity', price: 2_300_000 },
  { symbol: 'EURUSD', class: 'forex', price: 109 },
  { symbol: 'USDJPY', class: 'forex', price: 15_100 },
  { symbol: 'XAU', class: 'commodity', price: 410_000 },
  { symbol: 'WTI', class: 'commodity', price: 7_200 },
];

interface Stream {
  readonly source: TickEvent['source'];
  readonly quoted: readonly Quoted[];
  /** Seconds from one tick to the next, before and after the first start. */
  readonly history: number;
  readonly live: number;
  readonly isPerpetual?: boolean;
}

const STREAMS: readonly Stream[] = [
  { source: 'exchange_spot', quoted: COINS, history: 7_200, live: 10 },
  { source: 'oracle_stream', quoted: COINS, history: 28_800, live: 30 },
  { source: 'reference', quoted: REFERENCES, history: 86_400, live: 60 },
  { source: 'exchange_spot', quoted: COINS, history: 86_400, live: 60, isPerpetual: true },
];

export const TICK_LABEL = 'prices';

/** Ticks at whole multiples of their periods, with `from <= second < until`. */
export function ticksBetween(
  seed: string,
  { from, until, start }: { readonly from: number; readonly until: number; readonly start: number },
): TickEvent[] {
  return STREAMS.flatMap((stream) => [
    ...ticksOf(seed, stream, { from, until: Math.min(until, start), period: stream.history }),
    ...ticksOf(seed, stream, { from: Math.max(from, start), until, period: stream.live }),
  ]);
}

function ticksOf(
  seed: string,
  stream: Stream,
  { from, until, period }: { readonly from: number; readonly until: number; readonly period: number },
): TickEvent[] {
  const ticks: TickEvent[] = [];
  for (let second = Math.ceil(from / period) * period; second < until; second += period) {
    for (const quoted of stream.quoted) ticks.push(tickOf(seed, stream, quoted, second));
  }
  return ticks;
}

const WAVES = [
  { seconds: 259_200, share: 0.05 },
  { seconds: 21_600, share: 0.012 },
  { seconds: 1_800, share: 0.003 },
  { seconds: 60, share: 0.0004 },
] as const;
const RANGE = 2 ** 32;

/** In hundredths of a cent, at a unix second. */
function quoteAt(seed: string, { symbol, price }: Quoted, second: number): number {
  const key = keyOf(`${seed} quote ${symbol}`);
  const waves = WAVES.reduce((sum, { seconds, share }, index) => {
    const step = Math.floor(second / seconds);
    const rest = (second - step * seconds) / seconds;
    const wave = mixed(key, index);
    const [left, right] = [mixed(wave, step) / RANGE, mixed(wave, step + 1) / RANGE];
    return sum + (2 * (left + (right - left) * rest) - 1) * share;
  }, 0);
  return Math.round(price * 100 * (1 + waves));
}

/** The spot price of a coin, which decides window markets: in hundredths of a cent, at a unix second. */
export function spotAt(seed: string, symbol: string, second: number): number {
  const coin = COINS.find((each) => each.symbol === symbol);
  return coin === undefined ? 0 : quoteAt(seed, coin, second);
}

/** As the shortest decimal. */
export function quoteText(hundredths: number): string {
  return String(hundredths / 10_000);
}

const FUNDING_SECONDS = 28_800;
const DAY_SECONDS = 86_400;

function tickOf(
  seed: string,
  { source, isPerpetual = false }: Stream,
  quoted: Quoted,
  second: number,
): TickEvent {
  const at = second * MICROS_PER_SECOND;
  const quote = quoteAt(seed, quoted, second);
  const symbol = isPerpetual ? `${quoted.symbol}-PERP` : quoted.symbol;
  const draw = mixed(keyOf(`${seed} ${source} ${symbol}`), second);
  // The oracle differs slightly from the spot price.
  const price = source === 'oracle_stream' || isPerpetual ? quote + (draw % 401) - 200 : quote;
  const before = quoteAt(seed, quoted, second - DAY_SECONDS);
  return {
    ...{ type: 'TICK', label: TICK_LABEL, source_id: `${source}-${symbol}-${String(second)}` },
    ...{ source_ts: at, received_at: at, source, symbol, price: quoteText(price) },
    class: isPerpetual ? 'perpetual' : quoted.class,
    content: {
      change_pct: String(Math.round(((quote - before) / before) * 1_000_000) / 10_000),
      ...(isPerpetual ? perpetualOf(quote, draw, second) : {}),
    },
  };
}

function perpetualOf(index: number, draw: number, second: number): TickEvent['content'] {
  const next = (Math.floor(second / FUNDING_SECONDS) + 1) * FUNDING_SECONDS;
  return {
    index: quoteText(index),
    funding_rate: ((draw % 2_001) / 10_000_000 - 0.0001).toFixed(8),
    next_funding_at: isoTime(next * MICROS_PER_SECOND),
    open_interest: String(1_000 + (draw % 9_000)),
  };
}
