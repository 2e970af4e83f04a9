import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPriceOnGrid } from '../../rules/markets.js';
import { ONE } from '../../rules/micros.js';
import type { OrderTerms } from '../../rules/order.js';
import { assetOf, sideOf, tokenIdOf } from './amounts.js';
import { orderAction, sentOf } from './orders.js';

const steps = fc.constantFrom(100n, 500n, 1_000n, 2_500n, 10_000n, 50_000n);
const base: Omit<OrderTerms, 'quantity' | 'price' | 'bound' | 'market' | 'kind' | 'requested'> = {
  ...{ order_id: 'o', user_id: 'u', origin: 'sotto', venue: 'venue_e', market_id: '5', outcome: 'YES' },
  ...{ outcome_index: 0, side: 'buy', time_in_force: 'GTC', post_only: false, max_retries: 0 },
  ...{ collateral: 'skip', shard_funding: false, source: 'manual', channel: 'REST', content: '' },
};

describe('orders sent to venue e', () => {
  it('prices are on the grid of the market, and quantities are rounded down to whole shares', () => {
    const amounts = fc.record({
      step: steps,
      ticks: fc.bigInt({ min: 1n, max: 10_000n }),
      quantity: fc.bigInt({ min: 1n, max: 1_000_000n * ONE }),
      kind: fc.constantFrom('market' as const, 'limit' as const),
    });
    fc.assert(
      fc.property(amounts, ({ step, ticks, quantity, kind }) => {
        const asked = (ticks % (ONE / step)) * step + step;
        const market = { tick_size: step, min_size: ONE, closes_at: '2030-01-01T00:00:00.000000000Z' };
        const requested = { quantity, price: asked };
        const terms = { ...base, kind, quantity, price: asked, bound: asked, market, requested };
        const sent = sentOf(terms);
        expect(sent.quantity % ONE).toBe(0n);
        expect(sent.quantity <= quantity && quantity - sent.quantity < ONE).toBe(true);
        expect(isPriceOnGrid(market, sent.price)).toBe(true);
        expect(sent.price).toBe(asked === ONE ? ONE - step : asked);
        const { orders } = orderAction(terms, sent, '0x') as { orders: { p: string; s: string }[] };
        expect(orders[0]?.p).toMatch(/^0\.\d{0,5}[1-9]$/);
        expect(orders[0]?.s).toMatch(/^\d+$/);
      }),
    );
  });

  it('each side of each market has its own name', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000_000 }), fc.constantFrom(0, 1), (market, outcome_index) => {
        const side = { market_id: String(market), outcome_index };
        expect(sideOf(tokenIdOf(side))).toEqual(side);
        expect(assetOf(side)).toBe(100_000_000 + 10 * market + outcome_index);
      }),
    );
  });
});
