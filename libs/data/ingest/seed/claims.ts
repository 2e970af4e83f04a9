import type { JsonMembers } from '../../rules/events.js';

/** A side of what a market pays for, in the slots by which payouts are compared; undefined where nothing is said of it. */
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

/** Something that comes true or does not, and that several venues may list in words of their own. */
export interface Claim {
  /** Markets of the same claim pay the same, but for how they are settled. */
  readonly key: string;
  /** Claims that look alike: of two of them one may be taken for the other. */
  readonly kin: string;
  readonly event: { readonly key: string; readonly name: string };
  readonly series: { readonly key: string; readonly title: string };
  readonly category: string;
  readonly subcategory: string;
  readonly tags: readonly string[];
  readonly sports?: JsonMembers;
  readonly terms: ClaimTerms;
  /** Ways to say it. */
  readonly titles: readonly [string, ...string[]];
  /** How the opposite is said, which pays what this does not. */
  readonly opposite?: string;
  readonly rules: string;
  /** Short, of capitals and digits. */
  readonly ticker: string;
  /** When it is known, as planned. */
  readonly ends: number;
  /** How likely it is at first, in micro-dollars. */
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

/** What pays whenever these terms do not; undefined where no comparator says it. */
export function negated(terms: ClaimTerms): ClaimTerms | undefined {
  const { comparator } = terms;
  if (comparator === 'eq' || comparator === 'between' || comparator === 'none') return undefined;
  return { ...terms, comparator: NEGATED[comparator] };
}
