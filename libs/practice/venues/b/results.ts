import { costOf, type Cash } from '../../matching/accounts.js';
import type { Millis, Movement, VenueFill } from '../../venue/terms.js';

export interface MarketResult {
  /** The total value of traded shares. */
  readonly traded: Cash;
  readonly fees: Cash;
  /** Money in less money out, without fees. */
  readonly flow: Cash;
  readonly last: Millis;
}

export function tradedIn(fills: readonly VenueFill[]): Cash {
  return fills.reduce((sum, { price, size }) => sum + costOf(price, size), 0n);
}

/** Results of an account's trades, pairs and payouts, by market. */
export function marketResults(
  fills: readonly VenueFill[],
  movements: readonly Movement[],
): Map<string, MarketResult> {
  const results = new Map<string, MarketResult>();
  const add = (id: string, { traded, fees, flow, last }: MarketResult): void => {
    const known = results.get(id);
    results.set(id, {
      traded: (known?.traded ?? 0n) + traded,
      fees: (known?.fees ?? 0n) + fees,
      flow: (known?.flow ?? 0n) + flow,
      last: Math.max(known?.last ?? 0, last),
    });
  };
  for (const { market_id: id, price, size, side, fee, at } of fills) {
    const traded = costOf(price, size);
    add(id, { traded, fees: fee, flow: side === 'buy' ? -traded : traded, last: at });
  }
  for (const { market_id: id, kind, amount, at } of movements) {
    if (id !== undefined && (kind === 'pairs' || kind === 'payout'))
      add(id, { traded: 0n, fees: 0n, flow: amount, last: at });
  }
  return results;
}
