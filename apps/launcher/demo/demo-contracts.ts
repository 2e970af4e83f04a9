import type { ContractFacts } from '#libs/auction/rules/commands.js';
import { plusMillis, type Instant } from '#libs/base/instant.js';

interface VenueGrid {
  readonly price_tick_atoms: number;
  readonly quantity_step_atoms: number;
}

/** Venues have different grids, as real ones do. An auction over two of them uses the coarser grid. */
const GRIDS: Readonly<Record<string, VenueGrid>> = {
  venue_a: { price_tick_atoms: 10_000, quantity_step_atoms: 10_000 },
  venue_b: { price_tick_atoms: 10_000, quantity_step_atoms: 1_000_000 },
  venue_c: { price_tick_atoms: 1_000, quantity_step_atoms: 1_000 },
  venue_d: { price_tick_atoms: 5_000, quantity_step_atoms: 100_000 },
  venue_e: { price_tick_atoms: 100, quantity_step_atoms: 1_000_000 },
};

interface Question {
  readonly id: string;
  readonly title: string;
  readonly venues: readonly string[];
}

/** Questions and their venues. A question settles alike on all of its venues. */
const QUESTIONS: readonly Question[] = [
  { id: 'rate-cut-june', title: 'Central bank cuts rates in June', venues: ['venue_a', 'venue_b'] },
  { id: 'rate-cut-september', title: 'Central bank cuts rates in September', venues: ['venue_a', 'venue_c'] },
  {
    id: 'inflation-below-2',
    title: 'Inflation below 2 % at the end of the year',
    venues: ['venue_a', 'venue_d'],
  },
  { id: 'unemployment-above-5', title: 'Unemployment above 5 % this year', venues: ['venue_a', 'venue_e'] },
  { id: 'budget-passed', title: 'Budget passed before the recess', venues: ['venue_b', 'venue_c'] },
  { id: 'election-runoff', title: 'The election goes to a run-off', venues: ['venue_b', 'venue_d'] },
  { id: 'turnout-above-60', title: 'Turnout above 60 %', venues: ['venue_b', 'venue_e'] },
  { id: 'moon-landing', title: 'A crewed moon landing this year', venues: ['venue_c', 'venue_d'] },
  { id: 'hottest-year', title: 'The hottest year on record', venues: ['venue_c', 'venue_e'] },
  { id: 'oil-above-100', title: 'Oil above 100 dollars this year', venues: ['venue_d', 'venue_e'] },
  { id: 'cup-favourite', title: 'The favourite wins the cup', venues: ['venue_a', 'venue_b', 'venue_c'] },
  {
    id: 'best-picture-debut',
    title: 'A first film wins best picture',
    venues: ['venue_a', 'venue_d', 'venue_e'],
  },
  { id: 'gdp-growth-above-3', title: 'Growth above 3 %', venues: ['venue_a'] },
  { id: 'housing-starts-up', title: 'Housing starts rise', venues: ['venue_a'] },
  { id: 'strike-averted', title: 'The dockers do not strike', venues: ['venue_b'] },
  { id: 'treaty-signed', title: 'The treaty is signed', venues: ['venue_b'] },
  { id: 'record-rainfall', title: 'Record rainfall in the capital', venues: ['venue_c'] },
  { id: 'chip-exports-up', title: 'Chip exports rise', venues: ['venue_c'] },
  { id: 'airline-merger', title: 'The airlines merge', venues: ['venue_d'] },
  { id: 'satellite-launch', title: 'The satellite reaches orbit', venues: ['venue_d'] },
  { id: 'marathon-record', title: 'A new marathon record', venues: ['venue_e'] },
  { id: 'chess-champion', title: 'The champion keeps the title', venues: ['venue_e'] },
  { id: 'drug-approved', title: 'The drug is approved', venues: ['venue_a'] },
  { id: 'court-upholds', title: 'The court upholds the ruling', venues: ['venue_b'] },
  { id: 'harvest-record', title: 'A record harvest', venues: ['venue_c'] },
  { id: 'volcano-erupts', title: 'The volcano erupts this year', venues: ['venue_d'] },
];

const LIFE_MS = 365 * 86_400_000;
const OUTCOME = 'YES';

/** Forty contracts on five venues, many of them pairs that settle alike. All close a year after `now`. */
export function demoContracts(now: Instant): ContractFacts[] {
  const closesAt = plusMillis(now, LIFE_MS);
  return QUESTIONS.flatMap(({ id, title, venues }) =>
    venues.map((venue) => ({
      venue,
      contract_id: `${venue.replace('venue_', '')}-${id}`,
      outcome: OUTCOME,
      title,
      equivalence_id: id,
      ...gridOf(venue),
      status: 'TRADING' as const,
      closes_at: closesAt,
    })),
  );
}

export const DEMO_VENUES = Object.keys(GRIDS);

function gridOf(venue: string): VenueGrid {
  const grid = GRIDS[venue];
  if (grid === undefined) throw new Error(`no grid for ${venue}`);
  return grid;
}
