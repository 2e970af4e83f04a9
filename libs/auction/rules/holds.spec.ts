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

function amounts(asked: Need, tokens: Record<string, number> = {}): [string, ResourceType, string, number][] {
  return holdFor(asked, ({ contract_id: id }) => tokens[id] ?? 0).map((hold) => [
    hold.venue,
    hold.resource,
    hold.asset,
    hold.amount,
  ]);
}

describe('what is set aside', () => {
  it('for a purchase is its price, rounded up, once more for every further part', () => {
    expect(amounts(need({ side: 'BUY', parts: 3 }), { rain: 9e9 })).toEqual([
      ['venue_a', 'COLLATERAL', '', 1_200_001 + 2],
      ['venue_a', 'VENUE_POSITION_LIMIT', '', 3_000_001],
      ['', 'SERVICE_EXPOSURE_LIMIT', '', 1_200_001 + 2],
    ]);
  });

  it('for a sale is tokens, and collateral for those that are missing', () => {
    expect(amounts(need({}), { rain: 1_000_001 })).toEqual([
      ['venue_a', 'OUTCOME_TOKEN', 'rain/YES', 1_000_001],
      ['venue_a', 'COLLATERAL', '', 1_200_000],
      ['venue_a', 'VENUE_POSITION_LIMIT', '', 3_000_001],
      ['', 'SERVICE_EXPOSURE_LIMIT', '', 1_800_001],
    ]);
    expect(amounts(need({}), { rain: 9e9 }).map(([, resource]) => resource)).not.toContain('COLLATERAL');
  });

  it('is set aside at every venue, and once for the routes of one venue: as the dearest asks', () => {
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
])('ticks of %d and steps of %d may be rounded %d times among eight winners', (tick, step, parts) => {
  const grid = {
    price_tick_atoms: tick,
    quantity_step_atoms: step,
    min_price_atoms: tick,
    max_price_atoms: 999_000,
  };
  expect(fillParts(grid, 8)).toBe(parts);
});
