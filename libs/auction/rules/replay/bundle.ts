import type { AuditEvent, AuditTerms } from '../audit/audit.js';
import type { RankingRow } from '../audit/audit-ranking.js';
import { canonicalJson } from './canonical.js';
import type { AuctionStatus } from '../state.js';

export const BUNDLE_FORMAT = 'sotto-replay-bundle';
export const BUNDLE_VERSION = 1;
export const SIGNATURE_ALGORITHM = 'Ed25519';

/** Lower-case hex of the SHA-256 over the UTF-8 of a text. The rules import nothing, so the caller provides it. */
export type Sha256 = (text: string) => string;

/** A journal record with pseudonyms, its position there, and its link in the bundle's own chain. */
export interface ReplayRecord extends AuditEvent {
  /** Consecutive from 1 within the bundle. Positions have gaps, because the shard also holds other auctions. */
  readonly number: number;
  readonly shard: number;
  readonly epoch: number;
  /** The `digest` of the record before. For the first record, the digest of the heading. */
  readonly previous: string;
  /** Covers all fields above. */
  readonly digest: string;
}

export interface ReplayHeading {
  readonly format: typeof BUNDLE_FORMAT;
  readonly version: number;
  readonly auction_id: string;
  readonly rule_version: number;
  readonly terms: AuditTerms;
}

/** The service's statement, with its audit key, that the bundle is right. */
export interface Attestation {
  readonly algorithm: typeof SIGNATURE_ALGORITHM;
  readonly key_id: string;
  /** `x` of the public JWK. */
  readonly public_key: string;
  /** Hex, over `signedText`. */
  readonly signature: string;
}

/** Everything from which the outcome of a completed auction follows, and the outcome as the service computed it. */
export interface ReplayBundle extends ReplayHeading {
  readonly status: AuctionStatus;
  readonly ranking: readonly RankingRow[];
  readonly record_count: number;
  /** `digest` of the last record. */
  readonly head: string;
  readonly attestation: Attestation;
  readonly records: readonly ReplayRecord[];
}

/** Everything beside the records. The head ties it to them. */
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

/** Covers every field of the record but the digest itself. */
export function recordDigest(record: Omit<ReplayRecord, 'digest'>, sha256: Sha256): string {
  const content = Object.entries(record).filter(([name]) => name !== 'digest');
  return sha256(`sotto replay record
${canonicalJson(Object.fromEntries(content))}`);
}

export function linked(content: Omit<ReplayRecord, 'digest'>, sha256: Sha256): ReplayRecord {
  return { ...content, digest: recordDigest(content, sha256) };
}

/** The signed text. It covers the records by their head only, so it stays short. */
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
