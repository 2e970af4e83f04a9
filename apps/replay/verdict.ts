import type { RankingRow } from '#libs/auction/rules/audit/audit-ranking.js';
import { replay } from '#libs/auction/rules/replay/replay.js';
import type { ReplayBundle } from '#libs/auction/rules/replay/bundle.js';
import { type Finding, readBundle } from '#libs/auction/rules/replay/shape.js';
import { alterations } from '#libs/auction/rules/replay/integrity.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import { sha256, signatureFault } from './public-keys.js';

/** Whether the signing key is known to be the service's, or only named by the bundle. */
export type Origin = 'VERIFIED' | 'NOT_VERIFIED';

export interface BundleVerdict {
  readonly ok: boolean;
  readonly origin: Origin;
  /** What was altered or is missing, found by seals and signature. */
  readonly alterations: readonly Finding[];
  /** Where the rules give another result than the bundle states. */
  readonly contradictions: readonly Finding[];
  readonly bundle: ReplayBundle | undefined;
  /** Recomputed by the rules from the records. */
  readonly state: AuctionState | undefined;
  readonly ranking: readonly RankingRow[];
}

export function judge(value: unknown, trusted: readonly string[] | undefined): BundleVerdict {
  const read = readBundle(value);
  if (!read.ok) return refused(read.findings);
  const { bundle } = read;
  const signature = signatureFault(bundle, trusted);
  const altered = [...alterations(bundle, sha256), ...(signature === undefined ? [] : [{ what: signature }])];
  const { findings, state, ranking } = replay(bundle);
  return {
    ok: altered.length === 0 && findings.length === 0,
    origin: trusted === undefined || signature !== undefined ? 'NOT_VERIFIED' : 'VERIFIED',
    alterations: altered,
    contradictions: findings,
    bundle,
    state,
    ranking,
  };
}

export function refused(findings: readonly Finding[]): BundleVerdict {
  return {
    ok: false,
    origin: 'NOT_VERIFIED',
    alterations: findings,
    contradictions: [],
    bundle: undefined,
    state: undefined,
    ranking: [],
  };
}
