import { describe, expect, it } from '@jest/globals';
import { sumsOf } from '#libs/testing/auctions/holds.js';
import { inAnySession } from '#libs/testing/auctions/play.js';
import { holdOf } from './held.js';
import type { AwardTerms } from './events.js';
import { findQuote, type AuctionState } from './state.js';
import type { Hold } from './terms.js';

function expectWithin(part: readonly Hold[], whole: readonly Hold[]): void {
  const available = sumsOf(whole);
  const over = [...sumsOf(part)].filter(([name, amount]) => amount > (available.get(name) ?? 0n));
  expect(over).toEqual([]);
}

describe('an award', () => {
  const awarded = (check: (awards: readonly AwardTerms[], before: AuctionState) => void) =>
    inAnySession((played) => {
      const index = played.events.findIndex(({ event }) => event.type === 'AUCTION_AWARDED');
      const event = played.events[index]?.event;
      if (event?.type === 'AUCTION_AWARDED') check(event.data.awards, played.states[index - 1]!);
    });

  it('fills at most the auction and the quote, and at least the minimum of each', () => {
    awarded((awards, { terms, ...state }) => {
      const sum = awards.reduce((total, award) => total + award.quantity_atoms, 0);
      expect(sum).toBeLessThanOrEqual(terms.quantity_atoms);
      expect(sum).toBeGreaterThanOrEqual(terms.min_fill_quantity_atoms);
      for (const award of awards) {
        const quote = findQuote({ terms, ...state }, award.quote_id);
        expect(award.quantity_atoms).toBeLessThanOrEqual(quote!.quantity_atoms);
        expect(award.quantity_atoms).toBeGreaterThanOrEqual(quote!.min_quantity_atoms);
        expect(award.quantity_atoms % terms.grid.quantity_step_atoms).toBe(0);
      }
    });
  });

  it("is at the winner's own price, within the originator's limit", () => {
    awarded((awards, state) => {
      const { side, limit_price_atoms: limit } = state.terms;
      for (const { quote_id, maker, price_atoms: price } of awards) {
        expect(findQuote(state, quote_id)).toMatchObject({ maker, price_atoms: price });
        if (limit !== undefined) expect(side === 'BUY' ? price <= limit : price >= limit).toBe(true);
      }
    });
  });

  it('needs no more than its maker had set aside, and all awards together no more than the originator had', () => {
    awarded((awards, state) => {
      for (const award of awards) {
        expectWithin(award.maker_hold, holdOf(findQuote(state, award.quote_id)));
      }
      expectWithin(
        awards.flatMap((award) => award.originator_hold),
        holdOf(state),
      );
    });
  });

  it('is fully covered on every route: by tokens first, by collateral for the missing tokens', () => {
    awarded((awards, { terms }) => {
      for (const { price_atoms: price, quantity_atoms: quantity, ...award } of awards) {
        for (const [side, hold] of [
          [terms.side, award.originator_hold],
          [terms.side === 'BUY' ? 'SELL' : 'BUY', award.maker_hold],
        ] as const) {
          const held = sumsOf(hold);
          for (const { venue, contract_id, outcome } of terms.routes) {
            const tokens = held.get(`${venue}/OUTCOME_TOKEN/${contract_id}/${outcome}`) ?? 0n;
            const unit = BigInt(side === 'BUY' ? price : 1_000_000 - price);
            const cost = (BigInt(quantity) - tokens) * unit;
            const collateral = held.get(`${venue}/COLLATERAL/`) ?? 0n;
            expect(collateral * 1_000_000n).toBeGreaterThanOrEqual(cost);
            expect(held.get(`${venue}/VENUE_POSITION_LIMIT/`)).toBe(BigInt(quantity));
          }
        }
      }
    });
  });
});
