import { createHash } from 'node:crypto';
import type { ListedOutcome } from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';

/** 64 hex digits. */
export function digest(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('|')).digest('hex');
}

const ID_DIGITS = 13;

/** A number of up to 16 digits, as text. */
export function numberOf(hex: string): string {
  return String(Number.parseInt(hex.slice(0, ID_DIGITS), 16));
}

/** The ids of a market and its outcomes, in the format of the venue. */
export interface VenueIds {
  readonly market_id: string;
  readonly condition_id?: string;
  readonly outcomes: readonly ListedOutcome[];
}

const FIRST_OUTCOME_OF_E = 100_000;
const MOST_OUTCOMES_OF_E = 900_000_000;
const SIDES = 10;

export function idsOf(
  provider: Provider,
  { seed, key, ticker }: { readonly seed: string; readonly key: string; readonly ticker: string },
  labels: readonly string[],
): VenueIds {
  const hex = digest(seed, provider, key);
  const token = (index: number): string => digest(seed, provider, key, index);
  const outcomes = (tokenOf: (index: number) => string): readonly ListedOutcome[] =>
    labels.map((label, index) => ({ label, token_id: tokenOf(index) }));
  switch (provider) {
    case 'venue_a':
      return {
        ...{ market_id: numberOf(hex), condition_id: `0x${digest(hex)}` },
        outcomes: outcomes((index) => BigInt(`0x${token(index)}`).toString()),
      };
    case 'venue_c':
      return {
        market_id: `0x${hex.slice(0, 40)}`,
        outcomes: outcomes((index) => BigInt(`0x${token(index)}`).toString()),
      };
    case 'venue_d':
      return { market_id: numberOf(hex), outcomes: outcomes((index) => `d${token(index).slice(0, 24)}`) };
    case 'venue_e': {
      const id = FIRST_OUTCOME_OF_E + (Number.parseInt(hex.slice(0, ID_DIGITS), 16) % MOST_OUTCOMES_OF_E);
      return { market_id: String(id), outcomes: outcomes((index) => `#${String(SIDES * id + index)}`) };
    }
    case 'venue_b':
    case 'venue_f':
      return { market_id: ticker, outcomes: labels.map((label) => ({ label })) };
  }
}

/** In the format of venue_b's trade ids. */
export function uuidOf(hex: string): string {
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, index) => hex.slice(cuts[index], end))
    .join('-');
}
