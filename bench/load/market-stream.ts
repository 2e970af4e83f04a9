import type { MarketEvent, TradeEvent } from '#libs/data/rules/events.js';
import type { Provider } from '#libs/data/rules/providers.js';
import { marketEvent, randomOf, tradeEvent } from '#libs/testing/data/streams.js';

export interface StreamOf {
  readonly provider: Provider;
  readonly markets: number;
  readonly trades: number;
  /** Time of the first trade. The others follow in steps of `every`. */
  readonly from: number;
  readonly every: number;
}

const ODD = 7_919;
const WALLET = `0x${'1234567890'.repeat(4)}`;
const HASH = `0x${'ab'.repeat(32)}`;

export function marketsOf({ provider, markets, from }: StreamOf): MarketEvent[] {
  return Array.from({ length: markets }, (_, number) => marketEvent(provider, `market-${number}`, from));
}

/**
 * Trades as a venue on a chain reports them: long ids, both wallets, a hash. A few markets have most of the
 * trades.
 */
export function* tradesOf({ provider, markets, trades, from, every }: StreamOf): Generator<TradeEvent> {
  const random = randomOf(1);
  for (let number = 0; number < trades; number += 1) {
    const market = Math.min(random(markets), random(markets));
    yield tradeEvent(provider, `market-${market}`, {
      source_id: `0x${(number * ODD).toString(16).padStart(40, 'a')}:${number}`,
      ...{ source_ts: from + number * every, outcome_index: random(2), side: 'buy' },
      ...{ price: 10_000 * (1 + random(98)), size: BigInt(1_000_000 * (1 + random(200))) },
      ...{ maker: WALLET, taker: WALLET, tx_hash: HASH },
    });
  }
}
