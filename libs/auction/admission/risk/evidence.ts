import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import { instantOfUtcText } from '../timestamps.js';
import type { ResourceKey } from './resource-key.js';

/**
 * The evidence of one account contradicts itself. A batch returns it as a value, so that one bad account refuses no
 * other. The caller answers 500 `internal_error`.
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

/** What the ledger states of one resource of one account, and how much of it is reserved. */
export interface Evidence {
  readonly amount: Atoms;
  readonly source_sequence: number;
  readonly risk_valid_until: Instant;
  readonly authority_valid_until: Instant;
  /** Reserved by all shards together. */
  readonly reserved: Atoms;
}

/** Undefined if there is no evidence. */
export type EvidenceOf = (key: ResourceKey) => Evidence | undefined;

/** A row from the database. Integers are text, because their range must be checked. */
export interface EvidenceText {
  readonly amount: string;
  readonly settled: string;
  readonly source_sequence: string;
  readonly risk_valid_until: string;
  readonly authority_valid_until: string;
}

/** Throws EvidenceInvalid if the evidence contradicts itself. */
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

/** What an account owns shrinks only by settlement. A limit may be lowered below what is reserved. */
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

/** Evidence is valid before its expiry, not at it. */
export function judgeFreshness(evidence: Evidence | undefined, now: Instant): Rejection | undefined {
  if (evidence === undefined || evidence.risk_valid_until <= now) {
    return rejected('RISK_EVIDENCE_STALE', 'The risk evidence of the account is missing or out of date.');
  }
  return evidence.authority_valid_until <= now
    ? rejected(
        'AUTHORITY_EVIDENCE_STALE',
        'The authority for the risk evidence could not be verified in time.',
      )
    : undefined;
}
