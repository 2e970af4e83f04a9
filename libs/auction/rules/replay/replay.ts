import { auditRanking, type RankingRow } from '../audit/audit-ranking.js';
import type { ReplayBundle, ReplayRecord } from './bundle.js';
import { firstDifference, isSame } from './canonical.js';
import { restored } from './events.js';
import { about, type Finding } from './shape.js';
import { Rerun } from './rerun.js';
import type { AuctionState } from '../state.js';

/** What the rules compute from the records, and where the bundle differs from it. */
export interface ReplayOutcome {
  readonly findings: readonly Finding[];
  /** Undefined when the records could not be read to the end. */
  readonly state: AuctionState | undefined;
  /** Computed from the records, never copied from the bundle. */
  readonly ranking: readonly RankingRow[];
}

/**
 * Runs a completed auction again from its records. Only the records are trusted: terms, winners, ranking, reasons
 * and status are computed from them.
 */
export function replay(bundle: ReplayBundle): ReplayOutcome {
  const findings: Finding[] = [];
  const rerun = new Rerun('AUDITED');
  for (const record of bundle.records) {
    try {
      const placed = restored(bundle.auction_id, record);
      const objection = rerun.objectionTo(placed.event);
      if (objection !== undefined) findings.push(about(record, objection));
      rerun.take(placed);
    } catch (error) {
      return { findings: [...findings, about(record, unreadable(error))], state: undefined, ranking: [] };
    }
  }
  const { state } = rerun;
  if (state === undefined) return { findings, state, ranking: [] };
  const ranking = auditRanking(state, (maker) => maker);
  return { findings: [...findings, ...outcomeFindings(bundle, state, ranking)], state, ranking };
}

function outcomeFindings(
  bundle: ReplayBundle,
  state: AuctionState,
  ranking: readonly RankingRow[],
): Finding[] {
  const findings: Finding[] = [];
  const last: ReplayRecord | undefined = bundle.records.at(-1);
  if (last !== undefined && state.completed_at === undefined)
    findings.push(about(last, 'the auction does not end here'));
  if (bundle.auction_id !== state.terms.auction_id)
    findings.push({ what: `the records are of auction ${state.terms.auction_id}` });
  if (bundle.rule_version !== state.terms.rule_version)
    findings.push({ what: `the records have rule version ${state.terms.rule_version}` });
  if (bundle.status !== state.status)
    findings.push({ what: `the status is ${bundle.status}, and the records end in ${state.status}` });
  return [...findings, ...rankingFindings(bundle.ranking, ranking)];
}

function rankingFindings(stated: readonly RankingRow[], computed: readonly RankingRow[]): Finding[] {
  if (isSame(stated, computed)) return [];
  const findings = computed.flatMap((row, index): Finding[] => {
    const difference = firstDifference(stated[index], row);
    if (difference === undefined) return [];
    const what = difference === '' ? 'is missing' : `has another ${difference}`;
    return [{ what: `the ranking ${what} where the rules put quote ${row.quote_id} (rank ${index + 1})` }];
  });
  if (stated.length > computed.length)
    findings.push({ what: 'the ranking has more rows than the rules give' });
  return findings;
}

function unreadable(error: unknown): string {
  return `the rules cannot read it: ${error instanceof Error ? error.message : String(error)}`;
}
