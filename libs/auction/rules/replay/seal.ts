import type { AuditEvent, AuditView } from '../audit/audit.js';
import {
  BUNDLE_FORMAT,
  BUNDLE_VERSION,
  headingDigest,
  linked,
  SIGNATURE_ALGORITHM,
  signedText,
  type BundleFrame,
  type ReplayHeading,
  type ReplayRecord,
  type Sha256,
} from './bundle.js';

/** Shard and epoch of a record in the journal. */
export interface JournalPlace {
  readonly shard: number;
  readonly epoch: number;
}

export interface BundleSigner {
  readonly keyId: string;
  readonly publicKey: string;
  /** Hex of the signature over the UTF-8 of a text. */
  sign(text: string): string;
}

/** Yields the records one by one, each linked to the one before. The caller may do other work between them. */
export function* sealedRecords(
  view: AuditView,
  placeOf: (event: AuditEvent) => JournalPlace,
  sha256: Sha256,
): Generator<ReplayRecord, void> {
  let previous = headingDigest(headingOf(view), sha256);
  for (const [index, event] of view.events.entries()) {
    const record = linked({ ...event, ...placeOf(event), number: index + 1, previous }, sha256);
    previous = record.digest;
    yield record;
  }
}

/** Everything but the records, signed. It does not depend on the time or the reader: one auction has one bundle. */
export function signedFrame(view: AuditView, head: string, signer: BundleSigner): BundleFrame {
  const { status, ranking, events } = view;
  const attestation = {
    algorithm: SIGNATURE_ALGORITHM,
    key_id: signer.keyId,
    public_key: signer.publicKey,
  } as const;
  const frame = {
    ...headingOf(view),
    status,
    ranking,
    record_count: events.length,
    head,
    attestation,
  };
  return { ...frame, attestation: { ...attestation, signature: signer.sign(signedText(frame)) } };
}

function headingOf({ auction_id, rule_version, terms }: AuditView): ReplayHeading {
  return { format: BUNDLE_FORMAT, version: BUNDLE_VERSION, auction_id, rule_version, terms };
}
