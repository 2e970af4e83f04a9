import { describe, expect, it } from '@jest/globals';
import { fillParts, holdFor, type Need } from './holds.js';
import type { ResourceType } from './terms.js';

const RAIN = { venue: 'venue_a', contract_id: 'rain', outcome: 'YES' };
const WET = { venue: 'venue_a', contract_id: 'wet', outcome: 'YES' };
const STORM = { venue: 'venue_b', contract_id: 'storm', outcome: 'NO' };
const need = (different: Partial<Need>): Need => ({
  side: 'SELL',
  routes: [RAIN],
  price_atoms: 400_000,
  quantity_atoms: 3_000_001,
  parts: 1,
  ...different,
});

function amounts(
  needed: Need,
  tokens: Record<string, number> = {},
): [string, ResourceType, string, number][] {
  return holdFor(needed, ({ contract_id: id }) => tokens[id] ?? 0).map((hold) => [
    hold.venue,
    hold.resource,
    hold.asset,
    hold.amount,
  ]);
}

describe('the hold', () => {
  it('of a purchase is its price rounded up, plus one atom for every further part', () => {
    expect(amounts(need({ side: 'BUY', parts: 3 }), { rain: 9e9 })).toEqual([
      ['venue_a', 'COLLATERAL', '', 1_200_001 + 2],
      ['venue_a', 'VENUE_POSITION_LIMIT', '', 3_000_001],
      ['', 'SERVICE_EXPOSURE_LIMIT', '', 1_200_001 + 2],
    ]);
  });

  it('of a sale is tokens first, and collateral for the missing tokens', () => {
    expect(amounts(need({}), { rain: 1_000_001 })).toEqual([
      ['venue_a', 'OUTCOME_TOKEN', 'rain/YES', 1_000_001],
      ['venue_a', 'COLLATERAL', '', 1_200_000],
      ['venue_a', 'VENUE_POSITION_LIMIT', '', 3_000_001],
      ['', 'SERVICE_EXPOSURE_LIMIT', '', 1_800_001],
    ]);
    expect(amounts(need({}), { rain: 9e9 }).map(([, resource]) => resource)).not.toContain('COLLATERAL');
  });

  it('is needed at every venue, but only once per venue: as much as its dearest route needs', () => {
    const hold = amounts(need({ routes: [RAIN, WET, STORM] }), { rain: 3_000_001, wet: 1_000_001 });
    expect(hold.filter(([, resource]) => resource !== 'OUTCOME_TOKEN')).toEqual([
      ['venue_a', 'COLLATERAL', '', 1_200_000],
      ['venue_a', 'VENUE_POSITION_LIMIT', '', 3_000_001],
      ['venue_b', 'COLLATERAL', '', 1_800_001],
      ['venue_b', 'VENUE_POSITION_LIMIT', '', 3_000_001],
      ['', 'SERVICE_EXPOSURE_LIMIT', '', 1_800_001],
    ]);
  });
});

it.each([
  [1_000, 1_000, 1],
  [1_000, 1_000_000, 1],
  [1_000, 999, 8],
  [1, 1, 8],
])(
  'with ticks of %d and steps of %d an award may be rounded %d times among eight winners',
  (tick, step, parts) => {
    const grid = {
      price_tick_atoms: tick,
      quantity_step_atoms: step,
      min_price_atoms: tick,
      max_price_atoms: 999_000,
    };
    expect(fillParts(grid, 8)).toBe(parts);
  },
);
