import type { JsonMembers } from '../../rules/events.js';

/** The terms of one side of a market, in the slots by which payouts are compared. An undefined slot is not stated. */
export interface ClaimTerms {
  readonly subjects: readonly { readonly name: string; readonly role?: string }[];
  readonly predicate: string;
  readonly comparator: 'gt' | 'gte' | 'lt' | 'lte' | 'eq' | 'between' | 'none';
  readonly numbers: readonly string[];
  readonly unit?: string;
  /** ISO 8601. */
  readonly period: { readonly kind: 'by' | 'on' | 'during'; readonly from?: string; readonly to: string };
  readonly observation?: string;
  readonly scope?: string;
  readonly source?: string;
  readonly instant?: string;
  readonly void?: string;
  readonly tie?: string;
}

/** A statement that comes true or not. Several venues may list it in their own words. */
export interface Claim {
  /** Markets with the same claim pay the same, except for how they are settled. */
  readonly key: string;
  /** The group of claims that can be mistaken for each other. */
  readonly kin: string;
  readonly event: { readonly key: string; readonly name: string };
  readonly series: { readonly key: string; readonly title: string };
  readonly category: string;
  readonly subcategory: string;
  readonly tags: readonly string[];
  readonly sports?: JsonMembers;
  readonly terms: ClaimTerms;
  /** Titles that venues may give it. */
  readonly titles: readonly [string, ...string[]];
  /** The title of the opposite, which pays when this does not. */
  readonly opposite?: string;
  readonly rules: string;
  /** Short, of capitals and digits. */
  readonly ticker: string;
  /** When the result is planned to be known. */
  readonly ends: number;
  /** Its first probability, in micro-dollars. */
  readonly price: number;
}

export const CORE_SLOTS = [
  'subjects',
  'predicate',
  'comparator',
  'numbers',
  'unit',
  'period',
  'observation',
  'scope',
] as const;
export const SETTLEMENT_SLOTS = ['source', 'instant', 'void', 'tie'] as const;

export type ClaimSlot = (typeof CORE_SLOTS)[number] | (typeof SETTLEMENT_SLOTS)[number];

export function differing<S extends ClaimSlot>(
  slots: readonly S[],
  left: ClaimTerms,
  right: ClaimTerms,
): S[] {
  return slots.filter((slot) => JSON.stringify(left[slot]) !== JSON.stringify(right[slot]));
}

const NEGATED = { gt: 'lte', lte: 'gt', gte: 'lt', lt: 'gte' } as const;

/** The terms that pay when these do not; undefined if no comparator expresses them. */
export function negated(terms: ClaimTerms): ClaimTerms | undefined {
  const { comparator } = terms;
  if (comparator === 'eq' || comparator === 'between' || comparator === 'none') return undefined;
  return { ...terms, comparator: NEGATED[comparator] };
}
