import type { MarketDataEvent, TradeEvent } from '#libs/data/rules/events.js';
import type { Provider } from '#libs/data/rules/providers.js';
import type { JournaledMarketData } from '#libs/data/rules/event-codec.js';

export const START = Date.UTC(2026, 9, 31, 22) * 1_000;
const HOUR = 3_600_000_000;

/** A random generator (mulberry32): the same seed gives the same numbers. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

export function shuffled<T>(items: readonly T[], random: (below: number) => number): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random(left.length), 1));
}

function oneOf<T>(items: readonly [T, ...T[]], random: (below: number) => number): T {
  return items[random(items.length)] ?? items[0];
}

export function marketEvent(
  provider: Provider,
  id: string,
  at = START,
): MarketDataEvent & { readonly type: 'MARKET' } {
  return {
    ...{
      type: 'MARKET',
      provider,
      market_id: id,
      source_id: `${id}@${at}`,
      source_ts: at,
      received_at: at + 7,
    },
    ...{ name: `Will ${id}?`, condition_id: `c-${id}` },
    outcomes: [
      { label: 'Yes', token_id: `${id}-yes` },
      { label: 'No', token_id: `${id}-no` },
    ],
    contract: { tick_size: 10_000, lot_size: 1_000_000n },
  };
}

export function tradeEvent(provider: Provider, id: string, over: Partial<TradeEvent> = {}): TradeEvent {
  return {
    ...{ type: 'TRADE', provider, market_id: id, source_id: 't', source_ts: START, received_at: START + 9 },
    ...{ outcome_index: 0, price: 500_000, size: 1_000_000n },
    ...over,
  };
}

/** Events of a few markets over two days and the end of a month, in any order. Busts come before or after their trades. */
export function randomStream(provider: Provider, seed: number, trades: number): JournaledMarketData[] {
  const random = randomOf(seed);
  const markets = ['alpha', 'beta', 'gamma'] as const;
  const made: JournaledMarketData[] = markets.map((id) => marketEvent(provider, id));
  const numbers = new Map<string, bigint>();
  for (let index = 0; index < trades; index += 1) {
    const id = oneOf(markets, random);
    const seq = (numbers.get(id) ?? 0n) + 1n + BigInt(random(20) === 0 ? 1 : 0);
    if (id !== 'gamma') numbers.set(id, seq);
    // Many trades have the same time, so that seq and source_id decide the order.
    const source_ts = START + random(240) * (HOUR / 20) + random(2);
    const trade = tradeEvent(provider, id, {
      ...{ source_id: `t${random(2) === 0 ? '-' : '~'}${index}`, source_ts, outcome_index: random(2) },
      ...{ price: random(1_000_001), size: BigInt(1 + random(9_000_000)) },
      ...(id === 'gamma' ? {} : { seq }),
      ...(random(2) === 0 ? { side: 'buy', maker: '0xm', taker: '0xt', tx_hash: '0xh' } : {}),
    });
    made.push(trade);
    if (random(12) === 0) made.push(bustOf(trade));
  }
  for (let index = 0; index < 12; index += 1) {
    const id = oneOf(markets, random);
    const at = START + index * HOUR;
    const common = {
      provider,
      market_id: id,
      source_id: `s${index}`,
      source_ts: at,
      received_at: at,
    } as const;
    made.push(
      index % 3 === 0
        ? { ...marketEvent(provider, id, at + 1), name: `renamed ${index}` }
        : index % 3 === 1
          ? { ...common, type: 'STATUS', status: index % 2 === 0 ? 'closed' : 'active' }
          : {
              ...common,
              type: 'RESOLUTION',
              status: 'resolved',
              payouts: index % 2 === 0 ? [1_000_000, 0] : [0, 1_000_000],
            },
    );
  }
  made.push({
    ...{ type: 'LEDGER', provider, market_id: 'alpha', source_id: 'l', source_ts: START, received_at: START },
    ...{ wallet: '0xw', kind: 'SPLIT', size: 5n },
  });
  return shuffled(made, random);
}

export function bustOf({
  provider,
  source_id,
  source_ts,
}: TradeEvent): MarketDataEvent & { readonly type: 'TRADE_BUST' } {
  return {
    ...{ type: 'TRADE_BUST', provider, source_id: `bust of ${source_id}`, trade_source_id: source_id },
    ...{ source_ts, received_at: source_ts },
  };
}

/** Batches of random sizes. Some batches and some events are delivered again. */
export function delivered<T>(events: readonly T[], random: (below: number) => number): T[][] {
  const batches: T[][] = [];
  for (let at = 0; at < events.length;) {
    const size = 1 + random(random(3) === 0 ? 120 : 9);
    const batch = events.slice(at, at + size);
    batches.push(batch);
    if (random(4) === 0) batches.push([...batch, ...batch.slice(0, 2)]);
    if (random(4) === 0 && batches.length > 3) batches.push(batches[random(batches.length)] ?? batch);
    at += size;
  }
  return batches;
}
