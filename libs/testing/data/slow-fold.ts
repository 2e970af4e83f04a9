import { createHash } from 'node:crypto';
import type { JournaledMarketData } from '#libs/data/rules/event-codec.js';
import type { TradeEvent } from '#libs/data/rules/events.js';
import type { Provider } from '#libs/data/rules/providers.js';

export interface SlowBucket {
  readonly key: string;
  readonly text: string;
}

const seqOf = ({ seq, source_id }: TradeEvent): bigint =>
  seq ?? createHash('sha256').update(source_id).digest().readBigUInt64BE() & (2n ** 63n - 1n);

function inOrder(left: TradeEvent, right: TradeEvent): number {
  if (left.source_ts !== right.source_ts) return left.source_ts - right.source_ts;
  if (seqOf(left) !== seqOf(right)) return seqOf(left) < seqOf(right) ? -1 : 1;
  return Buffer.compare(Buffer.from(left.source_id), Buffer.from(right.source_id));
}

/** The expected rows, computed in the slowest way: sorts all trades and goes through each bucket. */
export function slowCandles(provider: Provider, events: readonly JournaledMarketData[]): SlowBucket[] {
  const busted = new Set(
    events.flatMap((event) => (event.type === 'TRADE_BUST' ? [event.trade_source_id] : [])),
  );
  const trades = new Map(
    events.flatMap((event) => (event.type === 'TRADE' ? [[event.source_id, event] as const] : [])),
  );
  const single = provider === 'venue_b' || provider === 'venue_f';
  const candles = new Map<string, TradeEvent[]>();
  for (const trade of [...trades.values()].sort(inOrder)) {
    if (busted.has(trade.source_id)) continue;
    for (const seconds of [60, 3_600, 86_400]) {
      const bucket = trade.source_ts - (trade.source_ts % (seconds * 1_000_000));
      const key = `${trade.market_id} ${single ? 0 : trade.outcome_index} ${seconds} ${bucket}`;
      candles.set(key, [...(candles.get(key) ?? []), trade]);
    }
  }
  const priceOf = ({ outcome_index, price }: TradeEvent): number =>
    single && outcome_index === 1 ? 1_000_000 - price : price;
  return [...candles]
    .map(([key, inside]) => {
      const prices = inside.map(priceOf);
      const volume = inside.reduce((sum, { size }) => sum + size, 0n);
      const cash = inside.reduce(
        (sum, { price, size }) => sum + (BigInt(price) * size * 2n + 1_000_000n) / 2_000_000n,
        0n,
      );
      const figures = [
        prices[0],
        Math.max(...prices),
        Math.min(...prices),
        prices.at(-1),
        volume,
        cash,
        inside.length,
      ];
      return { key, text: figures.join(' ') };
    })
    .sort(byKey);
}

export function byKey(left: SlowBucket, right: SlowBucket): number {
  return left.key < right.key ? -1 : 1;
}

export function slowTrades(events: readonly JournaledMarketData[]): string[] {
  const busted = new Set(
    events.flatMap((event) => (event.type === 'TRADE_BUST' ? [event.trade_source_id] : [])),
  );
  const texts = events.flatMap((event) =>
    event.type !== 'TRADE'
      ? []
      : [
          [
            ...[
              event.market_id,
              event.outcome_index,
              event.source_ts,
              seqOf(event),
              event.source_id,
              event.price,
            ],
            ...[event.size, event.side ?? '-', busted.has(event.source_id) ? 't' : 'f'],
          ].join(' '),
        ],
  );
  return [...new Set(texts)].sort();
}

export function slowMarkets(provider: Provider, events: readonly JournaledMarketData[]): object[] {
  const newest = (types: readonly string[], id: string): JournaledMarketData | undefined =>
    events
      .filter((event) => types.includes(event.type) && 'market_id' in event && event.market_id === id)
      .sort((left, right) => left.source_ts - right.source_ts || (left.source_id < right.source_id ? -1 : 1))
      .at(-1);
  return ['alpha', 'beta', 'gamma'].map((market_id) => {
    const details = newest(['MARKET'], market_id);
    const said = newest(['STATUS', 'RESOLUTION'], market_id);
    const first = provider === 'venue_b' ? 'open' : 'active';
    return {
      market_id,
      name: details?.type === 'MARKET' ? details.name : undefined,
      status: said !== undefined && 'status' in said ? said.status : first,
    };
  });
}
