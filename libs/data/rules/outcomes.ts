import type { ListedOutcome } from './events.js';
import { PROVIDER_FACTS, type Provider } from './providers.js';

/** All names that an outcome has ever had, so that a later event can use any of them. */
export interface OutcomeNames {
  readonly token_ids: readonly string[];
  readonly labels: readonly string[];
}

export function namesAfter(names: OutcomeNames | undefined, outcome: ListedOutcome): OutcomeNames {
  const { token_ids, labels } = names ?? { token_ids: [], labels: [] };
  return {
    token_ids: outcome.token_id === undefined ? token_ids : withName(token_ids, outcome.token_id),
    labels: withName(labels, outcome.label),
  };
}

function withName(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) ? names : [...names, name];
}

/**
 * Sorts the outcomes of a later event by their known indices, found by token id, else by label. Undefined if one fits no outcome or
 * several, two fit the same one, or one is missing.
 */
export function matchedOutcomes(
  names: readonly OutcomeNames[],
  outcomes: readonly ListedOutcome[],
): readonly ListedOutcome[] | undefined {
  const byIndex = new Map(outcomes.map((outcome) => [indexOf(names, outcome), outcome]));
  const matched = names.map((_names, index) => byIndex.get(index)).filter((outcome) => outcome !== undefined);
  return matched.length === names.length && outcomes.length === names.length ? matched : undefined;
}

function indexOf(names: readonly OutcomeNames[], { token_id, label }: ListedOutcome): number | undefined {
  const byToken =
    token_id === undefined ? -1 : names.findIndex(({ token_ids }) => token_ids.includes(token_id));
  if (byToken !== -1) return byToken;
  const byLabel = names.flatMap(({ labels }, index) => (labels.includes(label) ? [index] : []));
  return byLabel.length === 1 ? byLabel[0] : undefined;
}

/** The outcome whose trades, candles and book give the price. */
export interface OutcomeSeries {
  readonly outcome_index: number;
  /** Prices are 1 minus those of the series. */
  readonly isMirrored: boolean;
}

export function seriesOf(provider: Provider, outcomeIndex: number): OutcomeSeries {
  return PROVIDER_FACTS[provider].isSingleBook && outcomeIndex === 1
    ? { outcome_index: 0, isMirrored: true }
    : { outcome_index: outcomeIndex, isMirrored: false };
}
