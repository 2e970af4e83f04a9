import type { AuditEvent, AuditTerms } from '../audit/audit.js';
import type { RankingRow } from '../audit/audit-ranking.js';
import { canonicalJson } from './canonical.js';
import type { AuctionStatus } from '../state.js';

export const BUNDLE_FORMAT = 'sotto-replay-bundle';
export const BUNDLE_VERSION = 1;
export const SIGNATURE_ALGORITHM = 'Ed25519';

/** Lower-case hex of the SHA-256 over the UTF-8 of a text. The rules import nothing, so whoever calls brings it. */
export type Sha256 = (text: string) => string;

/** A record of the journal under pseudonyms, at its place there, and its link in the bundle's own chain. */
export interface ReplayRecord extends AuditEvent {
  /** Dense from 1 within the bundle; positions have holes where the shard was busy with other auctions. */
  readonly number: number;
  readonly shard: number;
  readonly epoch: number;
  /** `digest` of the record before; of the first, the digest of the heading. */
  readonly previous: string;
  /** Covers all of the above. */
  readonly digest: string;
}

export interface ReplayHeading {
  readonly format: typeof BUNDLE_FORMAT;
  readonly version: number;
  readonly auction_id: string;
  readonly rule_version: number;
  readonly terms: AuditTerms;
}

/** Who says that this is how it was: the service, with its audit key. */
export interface Attestation {
  readonly algorithm: typeof SIGNATURE_ALGORITHM;
  readonly key_id: string;
  /** `x` of the public JWK. */
  readonly public_key: string;
  /** Hex, over `signedText`. */
  readonly signature: string;
}

/** Everything that the outcome of a completed auction follows from, and the outcome as the service gave it. */
export interface ReplayBundle extends ReplayHeading {
  readonly status: AuctionStatus;
  readonly ranking: readonly RankingRow[];
  readonly record_count: number;
  /** `digest` of the last record. */
  readonly head: string;
  readonly attestation: Attestation;
  readonly records: readonly ReplayRecord[];
}

/** What stands beside the records; the head commits it to them. */
export type BundleFrame = Omit<ReplayBundle, 'records'>;
export type UnsignedFrame = Omit<BundleFrame, 'attestation'> & {
  readonly attestation: Omit<Attestation, 'signature'>;
};

export function headingDigest(heading: ReplayHeading, sha256: Sha256): string {
  const { format, version, auction_id, rule_version, terms } = heading;
  return sha256(
    `sotto replay heading\n${canonicalJson({ format, version, auction_id, rule_version, terms })}`,
  );
}

/** Over everything that the record holds but the digest itself, whatever that may be. */
export function recordDigest(record: Omit<ReplayRecord, 'digest'>, sha256: Sha256): string {
  const content = Object.entries(record).filter(([name]) => name !== 'digest');
  return sha256(`sotto replay record
${canonicalJson(Object.fromEntries(content))}`);
}

export function linked(content: Omit<ReplayRecord, 'digest'>, sha256: Sha256): ReplayRecord {
  return { ...content, digest: recordDigest(content, sha256) };
}

/** The text under the signature. The records are in it by their head alone, so it is short however long the history is. */
export function signedText(frame: UnsignedFrame): string {
  const { format, version, auction_id, rule_version, terms, status, ranking, record_count, head } = frame;
  const { algorithm, key_id, public_key } = frame.attestation;
  const attestation = { algorithm, key_id, public_key };
  const heading = { format, version, auction_id, rule_version, terms };
  return `sotto replay bundle
${canonicalJson({ ...heading, status, ranking, record_count, head, attestation })}`;
}

/** The thumbprint of RFC 7638, in hex. */
export function keyIdOf(publicKey: string, sha256: Sha256): string {
  return sha256(canonicalJson({ crv: SIGNATURE_ALGORITHM, kty: 'OKP', x: publicKey }));
}
