import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { holdFor, type Need } from '../rules/holds.js';
import { HIGHEST_PRICE_ATOMS, issueCost, owed } from '#libs/base/money.js';
import { ESCROW, ISSUER, type Entry, type LedgerKey } from '#libs/ledger/ledger.js';
import type { AwardToSettle } from './settlement.js';
import { complementOf, couldSettle, planSettlement } from './settlement-plan.js';

const A = { venue: 'venue_a', contract_id: 'rain', outcome: 'YES' };
const B = { ...A, venue: 'venue_b' };

interface Funds {
  readonly buyer: number;
  readonly seller: number;
  readonly tokens: number;
}

function balances(by: Readonly<Record<string, Funds>>): (key: LedgerKey) => number {
  return ({ account, venue, asset }) => {
    const funds = by[venue] ?? { buyer: 0, seller: 0, tokens: 0 };
    if (asset !== '') return account === 'seller' && asset === 'rain/YES' ? funds.tokens : 0;
    return account === 'buyer' ? funds.buyer : funds.seller;
  };
}

/** Both parties have reserved what the rules require, with this number of the seller's tokens in it. */
function awardOf(price: number, quantity: number, tokens: number, routes = [A]): AwardToSettle {
  const need: Omit<Need, 'side'> = { routes, price_atoms: price, quantity_atoms: quantity, parts: 1 };
  return {
    award_id: 'award',
    attempts: 0,
    deadline: '2026-11-20T12:02:00.000000000Z',
    auction_id: 'auction',
    price_atoms: price,
    quantity_atoms: quantity,
    routes,
    buyer: { account: 'buyer', hold: holdFor({ ...need, side: 'BUY' }, () => 0) },
    seller: { account: 'seller', hold: holdFor({ ...need, side: 'SELL' }, () => tokens) },
  };
}

function entriesOf(award: AwardToSettle, funds: Readonly<Record<string, Funds>>): readonly Entry[] {
  const plan = planSettlement(award, balances(funds));
  if (!plan.ok) throw new Error(plan.reason);
  return plan.entries;
}

function moved(entries: readonly Entry[], account: string, asset: string): number {
  return entries
    .filter((entry) => entry.account === account && entry.asset === asset)
    .reduce((sum, { amount }) => sum + amount, 0);
}

const RICH: Funds = { buyer: 10_000_000, seller: 10_000_000, tokens: 10_000_000 };

describe('settlement plan', () => {
  it('balances, and takes from each party what it owes and no more than it has', () => {
    const cases = fc.record({
      price: fc.integer({ min: 1, max: HIGHEST_PRICE_ATOMS }),
      quantity: fc.integer({ min: 1, max: 5_000_000 }),
      tokens: fc.integer({ min: 0, max: 6_000_000 }),
    });
    fc.assert(
      fc.property(cases, ({ price, quantity, tokens }) => {
        const entries = entriesOf(awardOf(price, quantity, tokens), { venue_a: RICH });
        for (const asset of ['', 'rain/YES', 'rain/NO']) {
          expect(
            entries.filter((entry) => entry.asset === asset).reduce((sum, { amount }) => sum + amount, 0),
          ).toBe(0);
        }
        const delivered = Math.min(tokens, quantity);
        const issued = quantity - delivered;
        expect(moved(entries, 'buyer', '')).toBe(-owed(price, quantity));
        expect(moved(entries, 'buyer', 'rain/YES')).toBe(quantity);
        expect(moved(entries, 'seller', 'rain/YES')).toBe(-delivered + 0);
        expect(moved(entries, 'seller', 'rain/NO')).toBe(issued);
        expect(moved(entries, 'seller', '')).toBeGreaterThanOrEqual(-issueCost(price, issued));
        expect(moved(entries, ISSUER, 'rain/YES')).toBe(-issued + 0);
        const backing = moved(entries, ESCROW, '');
        expect(backing).toBeGreaterThanOrEqual(issued);
        expect(backing).toBeLessThanOrEqual(issued + (issued === 0 ? 0 : 1));
      }),
      { numRuns: 2_000 },
    );
  });

  it('pays the seller for delivered tokens and keeps the backing of the others in escrow', () => {
    const entries = entriesOf(awardOf(400_000, 1_000_000, 250_000), { venue_a: RICH });
    expect(entries).toEqual([
      { account: 'buyer', venue: 'venue_a', asset: '', amount: -400_000 },
      { account: 'seller', venue: 'venue_a', asset: '', amount: 100_000 - 450_000 },
      { account: ESCROW, venue: 'venue_a', asset: '', amount: 750_000 },
      { account: 'buyer', venue: 'venue_a', asset: 'rain/YES', amount: 1_000_000 },
      { account: 'seller', venue: 'venue_a', asset: 'rain/YES', amount: -250_000 },
      { account: ISSUER, venue: 'venue_a', asset: 'rain/YES', amount: -750_000 },
      { account: 'seller', venue: 'venue_a', asset: 'rain/NO', amount: 750_000 },
      { account: ISSUER, venue: 'venue_a', asset: 'rain/NO', amount: -750_000 },
    ]);
  });

  it('rounds the payment for delivered tokens up, like every price', () => {
    const entries = entriesOf(awardOf(400_000, 2, 1), { venue_a: RICH });
    expect(moved(entries, 'buyer', '')).toBe(-1);
    // The seller pays the part of one pair that the buyer does not: one atom, which is all that it received.
    expect(moved(entries, 'seller', '')).toBe(1 - 1);
    expect(moved(entries, ESCROW, '')).toBe(1);
  });

  it('uses the first route that both parties can settle', () => {
    const award = awardOf(400_000, 1_000_000, 0, [A, B]);
    const poor = { ...RICH, buyer: 399_999 };
    expect(planSettlement(award, balances({ venue_a: RICH, venue_b: RICH }))).toMatchObject({
      settlement: { venue: 'venue_a', asset: 'rain/YES', delivered_atoms: 0 },
    });
    expect(planSettlement(award, balances({ venue_a: poor, venue_b: RICH }))).toMatchObject({
      settlement: { venue: 'venue_b' },
    });
    expect(planSettlement(award, balances({ venue_a: poor, venue_b: { ...RICH, seller: 0 } })).ok).toBe(
      false,
    );
  });

  it('uses nothing that was not reserved for this award', () => {
    const award = awardOf(400_000, 1_000_000, 0);
    const short = { ...award, buyer: { account: 'buyer', hold: [] } };
    expect(planSettlement(short, balances({ venue_a: RICH })).ok).toBe(false);
  });
});

describe('complement', () => {
  it.each(['YES', 'NO', 'DRAW', 'NOT DRAW'])('of the complement of %s is itself', (outcome) => {
    expect(complementOf(outcome)).not.toBe(outcome);
    expect(complementOf(complementOf(outcome))).toBe(outcome);
  });
});

it('tells which settlements the holds of an award cover', () => {
  const award = awardOf(400_000, 1_000_000, 600_000);
  const how = { venue: 'venue_a', asset: 'rain/YES', delivered_atoms: 600_000 };
  expect(couldSettle(award, how)).toBe(true);
  const otherwise = [
    { ...how, venue: 'venue_b' },
    // More than was reserved, and less: then the seller would need collateral that was not reserved.
    { ...how, delivered_atoms: 600_001 },
    { ...how, delivered_atoms: 599_000 },
    { ...how, delivered_atoms: -1 },
  ];
  expect(otherwise.filter((one) => couldSettle(award, one))).toEqual([]);
});
