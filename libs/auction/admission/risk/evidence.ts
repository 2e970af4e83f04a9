import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import { instantOfUtcText } from '../timestamps.js';
import type { ResourceKey } from './resource-key.js';

/**
 * The admission authority contradicted itself about one account. It is a value where many requests are answered together,
 * so that one bad account refuses nobody else, and an error where it is thrown. The caller answers 500 `internal_error`.
 */
export class EvidenceInvalid extends Error {
  readonly ok = false;
  readonly status = 500;
  readonly error = 'internal_error';

  constructor(message: string) {
    super(message);
    this.name = 'EvidenceInvalid';
  }
}

/** What the authority says of one resource of one account, and what is set aside of it. */
export interface Evidence {
  readonly amount: Atoms;
  readonly source_sequence: number;
  readonly risk_valid_until: Instant;
  readonly authority_valid_until: Instant;
  /** Set aside by all shards together. */
  readonly reserved: Atoms;
}

/** Undefined where the authority says nothing. */
export type EvidenceOf = (key: ResourceKey) => Evidence | undefined;

/** A row as the database gives it; integers as text, for their own sake is what has to be judged. */
export interface EvidenceText {
  readonly amount: string;
  readonly settled: string;
  readonly source_sequence: string;
  readonly risk_valid_until: string;
  readonly authority_valid_until: string;
}

/** Throws EvidenceInvalid where the authority contradicts itself. */
export function readEvidence(key: ResourceKey, text: EvidenceText, reserved: Atoms): Evidence {
  const amount = wholeNumber(key, 'amount', text.amount);
  const settled = wholeNumber(key, 'settled', text.settled);
  const sequence = wholeNumber(key, 'source_sequence', text.source_sequence);
  if (sequence === 0) throw invalid(key, 'source_sequence is 0');
  if (isOwned(key) && reserved > amount + settled) throw invalid(key, 'more is reserved than there ever was');
  return {
    amount,
    source_sequence: sequence,
    risk_valid_until: moment(key, 'risk_valid_until', text.risk_valid_until),
    authority_valid_until: moment(key, 'authority_valid_until', text.authority_valid_until),
    reserved,
  };
}

/** What is owned only ever shrinks by settlement; a limit may be lowered below what is already set aside. */
function isOwned(key: ResourceKey): boolean {
  return key.resource === 'COLLATERAL' || key.resource === 'OUTCOME_TOKEN';
}

function wholeNumber(key: ResourceKey, name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw invalid(key, `${name} is ${text}`);
  return value;
}

function moment(key: ResourceKey, name: string, text: string): Instant {
  const instant = instantOfUtcText(text);
  if (instant === undefined) throw invalid(key, `${name} is ${text}`);
  return instant;
}

function invalid(key: ResourceKey, what: string): EvidenceInvalid {
  return new EvidenceInvalid(`evidence of ${key.resource} ${key.asset} on ${key.venue}: ${what}`);
}

/** Evidence may be used up to the instant that it names, not on it. */
export function judgeFreshness(evidence: Evidence | undefined, now: Instant): Rejection | undefined {
  if (evidence === undefined || evidence.risk_valid_until <= now) {
    return rejected('RISK_EVIDENCE_STALE', 'The risk evidence of the account is missing or out of date.');
  }
  return evidence.authority_valid_until <= now
    ? rejected(
        'AUTHORITY_EVIDENCE_STALE',
        'The authority behind the risk evidence could not be verified in time.',
      )
    : undefined;
}
