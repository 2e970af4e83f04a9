import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { holdFor, type Need } from '../../rules/holds.js';
import { HIGHEST_PRICE_ATOMS } from '#libs/base/money.js';
import type { Hold, Side } from '../../rules/terms.js';
import { capacityOf, decideHold, type Asker } from './capacity.js';
import type { Evidence } from './evidence.js';
import { resourceName, resourcesOf, tokensOn, type ResourceKey } from './resource-key.js';
import { verdictOf } from './verdict.js';

const NOW = '2026-11-20T12:00:00.000000000Z';
const LATER = '2026-11-20T12:01:00.000000000Z';
const LATEST = '2026-11-20T12:02:00.000000000Z';
const LARGEST = Number.MAX_SAFE_INTEGER;

const ROUTE_A = { venue: 'venue_a', contract_id: 'rain', outcome: 'YES' };
const ROUTE_A2 = { venue: 'venue_a', contract_id: 'wet', outcome: 'YES' };
const ROUTE_B = { venue: 'venue_b', contract_id: 'rain', outcome: 'YES' };

const COLLATERAL_A: ResourceKey = { venue: 'venue_a', resource: 'COLLATERAL', asset: '' };
const POSITION_A: ResourceKey = { venue: 'venue_a', resource: 'VENUE_POSITION_LIMIT', asset: '' };
const EXPOSURE: ResourceKey = { venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '' };
const TOKENS_A = tokensOn(ROUTE_A);

function stated(amount: number, more: Partial<Evidence> = {}): Evidence {
  return {
    amount,
    source_sequence: 7,
    risk_valid_until: LATER,
    authority_valid_until: LATEST,
    reserved: 0,
    ...more,
  };
}

class EvidenceTable {
  private readonly rows = new Map<string, Evidence>();

  with(key: ResourceKey, evidence: Evidence): this {
    this.rows.set(resourceName(key), evidence);
    return this;
  }

  without(key: ResourceKey): this {
    this.rows.delete(resourceName(key));
    return this;
  }

  asker(current: readonly Hold[] = []): Asker {
    return { evidenceOf: (key) => this.rows.get(resourceName(key)), current, now: NOW };
  }
}

function plenty(need: Need): EvidenceTable {
  const table = new EvidenceTable();
  for (const key of resourcesOf(need)) table.with(key, stated(1_000_000_000_000));
  return table.without(TOKENS_A);
}

function need(side: Side, quantity: number, more: Partial<Need> = {}): Need {
  return { side, routes: [ROUTE_A], price_atoms: 400_000, quantity_atoms: quantity, parts: 1, ...more };
}

function errorOf(outcome: ReturnType<typeof decideHold>): string {
  return outcome.ok ? 'ok' : outcome.error;
}

const amounts = fc.oneof(
  fc.integer({ min: 0, max: 50 }),
  fc.integer({ min: 0, max: 5_000_000 }),
  fc.maxSafeNat(),
  fc.constant(LARGEST),
);
const evidence = fc
  .record({ amount: amounts, reserved: amounts })
  .map(({ amount, reserved }) => stated(amount, { reserved }));
const needs = fc.record({
  side: fc.constantFrom<Side>('BUY', 'SELL'),
  routes: fc.shuffledSubarray([ROUTE_A, ROUTE_A2, ROUTE_B], { minLength: 1 }),
  price_atoms: fc.integer({ min: 1, max: HIGHEST_PRICE_ATOMS }),
  parts: fc.integer({ min: 1, max: 16 }),
});
const situations = needs.chain((wanted) =>
  fc.record({
    wanted: fc.constant(wanted),
    rows: fc.tuple(...resourcesOf(wanted).map((key) => fc.tuple(fc.constant(key), evidence))),
    own: fc.array(fc.tuple(fc.constantFrom(...resourcesOf(wanted)), fc.integer({ min: 0, max: 1_000 })), {
      maxLength: 3,
    }),
  }),
);

describe('capacity', () => {
  it('is the largest quantity whose hold fits into the free resources', () => {
    fc.assert(
      fc.property(situations, ({ wanted, rows, own }) => {
        const table = new EvidenceTable();
        for (const [key, row] of rows) table.with(key, row);
        const asker = table.asker(own.map(([key, amount]) => ({ ...key, amount })));
        const capacity = capacityOf({ ...wanted, quantity_atoms: 1 }, asker);
        if (!capacity.ok) throw new Error(capacity.error);
        const fits = (quantity: number): boolean =>
          holdFor({ ...wanted, quantity_atoms: quantity }, (route) => capacity.free(tokensOn(route))).every(
            (hold) => hold.amount <= capacity.free(hold),
          );
        const { maximum } = capacity;
        if (maximum > 0) expect(fits(maximum)).toBe(true);
        if (maximum < LARGEST) expect(fits(maximum + 1)).toBe(false);
        expect(decideHold({ ...wanted, quantity_atoms: maximum + 1 }, asker).ok).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });

  it('counts tokens first and lets collateral carry the rest of a sale', () => {
    const wanted = need('SELL', 5_000_000);
    const table = plenty(wanted)
      .with(TOKENS_A, stated(2_000_000, { reserved: 500_000 }))
      .with(COLLATERAL_A, stated(600_000));
    const capacity = capacityOf(wanted, table.asker());
    expect(capacity).toMatchObject({ maximum: 2_500_000, routes: [{ binding: 'OUTCOME_TOKEN' }] });
  });

  it("lets a revision use the replaced quote's hold, even after a settlement took the rest", () => {
    const wanted = need('BUY', 1_000_000);
    const table = plenty(wanted).with(COLLATERAL_A, stated(100_000, { reserved: 900_000 }));
    expect(errorOf(decideHold(wanted, table.asker()))).toBe('INSUFFICIENT_COLLATERAL');
    expect(errorOf(decideHold(wanted, table.asker([{ ...COLLATERAL_A, amount: 400_000 }])))).toBe('ok');
    expect(errorOf(decideHold(wanted, table.asker([{ ...COLLATERAL_A, amount: 399_999 }])))).toBe(
      'INSUFFICIENT_COLLATERAL',
    );
  });

  it.each<[string, Side, ResourceKey]>([
    ['INSUFFICIENT_COLLATERAL', 'BUY', COLLATERAL_A],
    ['INSUFFICIENT_INVENTORY', 'SELL', COLLATERAL_A],
    ['VENUE_LIMIT_EXCEEDED', 'BUY', POSITION_A],
    ['VENUE_LIMIT_EXCEEDED', 'SELL', POSITION_A],
    ['SERVICE_CAPACITY_EXCEEDED', 'BUY', EXPOSURE],
    ['SERVICE_CAPACITY_EXCEEDED', 'SELL', EXPOSURE],
  ])('refuses with %s when a %ser has too little of that resource', (code, side, key) => {
    const wanted = need(side, 1_000_000);
    expect(errorOf(decideHold(wanted, plenty(wanted).asker()))).toBe('ok');
    expect(errorOf(decideHold(wanted, plenty(wanted).with(key, stated(1)).asker()))).toBe(code);
  });

  it.each([COLLATERAL_A, POSITION_A, EXPOSURE])('refuses when $resource is missing or stale', (key) => {
    const wanted = need('SELL', 1);
    expect(errorOf(decideHold(wanted, plenty(wanted).without(key).asker()))).toBe('RISK_EVIDENCE_STALE');
    const stale = plenty(wanted).with(key, stated(1_000_000, { risk_valid_until: NOW }));
    expect(errorOf(decideHold(wanted, stale.asker()))).toBe('RISK_EVIDENCE_STALE');
    const unvouched = plenty(wanted).with(key, stated(1_000_000, { authority_valid_until: NOW }));
    expect(errorOf(decideHold(wanted, unvouched.asker()))).toBe('AUTHORITY_EVIDENCE_STALE');
  });

  it('treats a missing row of tokens as no tokens, but refuses a stale one', () => {
    const wanted = need('SELL', 1);
    const poor = plenty(wanted).with(COLLATERAL_A, stated(600_000));
    expect(capacityOf(wanted, poor.asker())).toMatchObject({
      maximum: 1_000_000,
      routes: [{ binding: 'COLLATERAL' }],
    });
    const stale = plenty(wanted).with(TOKENS_A, stated(5, { risk_valid_until: NOW }));
    expect(errorOf(decideHold(wanted, stale.asker()))).toBe('RISK_EVIDENCE_STALE');
  });
});

describe('verdict', () => {
  it('has the documented shape, with the minimum of the routes, rounded down to a quotable quantity', () => {
    const wanted = need('BUY', 3_000_000, { routes: [ROUTE_A, ROUTE_B] });
    const table = plenty(wanted).with(COLLATERAL_A, stated(1_000_000, { source_sequence: 12 }));
    const capacity = capacityOf(wanted, table.asker());
    if (!capacity.ok) throw new Error(capacity.error);
    const step = 1_000_000;
    expect(verdictOf(wanted, capacity, { now: NOW, step })).toEqual({
      status: 'INSUFFICIENT_CAPACITY',
      requested_quantity_atoms: '3000000',
      maximum_executable_quantity_atoms: '2000000',
      checked_at: NOW,
      valid_until: LATER,
      routes: [
        {
          venue: 'venue_a',
          resource_type: 'COLLATERAL',
          maximum_executable_quantity_atoms: '2000000',
          risk_source_sequence: '12',
          risk_valid_until: LATER,
          authority_valid_until: LATEST,
        },
        {
          venue: 'venue_b',
          resource_type: 'VENUE_POSITION_LIMIT',
          maximum_executable_quantity_atoms: '1000000000000',
          risk_source_sequence: '7',
          risk_valid_until: LATER,
          authority_valid_until: LATEST,
        },
      ],
    });
    const less = verdictOf({ ...wanted, quantity_atoms: 2_000_000 }, capacity, { now: NOW, step });
    expect(less.status).toBe('EXECUTABLE');
  });
});
