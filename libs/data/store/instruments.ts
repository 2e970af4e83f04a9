import type { Provider } from '../rules/providers.js';
import { PROVIDERS } from '../rules/providers.js';

/** More than a market may have. */
const OUTCOMES = 64;
/** More than a provider will have. Each provider has its own range, so a rebuild gives the same numbers. */
const MARKETS = 1_000_000_000;

export function instrumentOf(marketNo: number, outcomeIndex: number): number {
  return marketNo * OUTCOMES + outcomeIndex;
}

export function ofInstrument(instrument: number): {
  readonly marketNo: number;
  readonly outcomeIndex: number;
} {
  const outcomeIndex = instrument % OUTCOMES;
  return { marketNo: (instrument - outcomeIndex) / OUTCOMES, outcomeIndex };
}

/** The bounds of a provider's market numbers, both exclusive. */
export function numbersOf(provider: Provider): readonly [after: number, before: number] {
  const range = PROVIDERS.indexOf(provider) + 1;
  return [range * MARKETS, (range + 1) * MARKETS];
}
