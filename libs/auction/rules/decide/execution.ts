import { completed, hasEnded, settlementOf } from '../completion.js';
import type { Decided, Decision, Moment } from '../decided.js';
import type { ConfirmedStep } from '../events.js';
import type { Instant } from '#libs/base/instant.js';
import type { AuctionState, Award } from '../state.js';

/** What happened to an award at its venue, as the settler reports it. A repeated report changes nothing. */
export interface ExecutionReport extends ConfirmedStep {
  readonly step: 'SUBMITTED' | 'RETRYING' | 'CONFIRMED' | 'FAILED';
}

/** The attempt number of an award that was given up before any attempt. */
const NEVER_SUBMITTED = 0;

export function decideExecution(state: AuctionState, report: ExecutionReport, { now }: Moment): Decision {
  const award = state.awards.find((candidate) => candidate.award_id === report.award_id);
  const isTooLate = state.execution_deadline !== undefined && now > state.execution_deadline;
  if (award === undefined || !isNews(award, report, isTooLate)) return { ok: true, events: [] };
  const { step } = report;
  const attempt = attemptOf(award, report, isTooLate);
  const events = [...missingSteps(award, step, attempt), { ...report, attempt }].map((one) =>
    reported(one, now),
  );
  if (step === 'CONFIRMED' || step === 'FAILED') {
    const settlement = settlementOf(state.awards.map((one) => (one === award ? step : one.execution_status)));
    if (settlement !== undefined) events.push(completed(now, settlement));
  }
  return { ok: true, events };
}

/** After the deadline an award is not tried again; it only ends. */
function isNews(award: Award, { step, attempt }: ExecutionReport, isTooLate: boolean): boolean {
  if (hasEnded(award.execution_status)) return false;
  if (step === 'SUBMITTED') return award.execution_status === 'PENDING';
  return step !== 'RETRYING' || (attempt > Math.max(1, award.last_attempt) && !isTooLate);
}

/**
 * A restarted settler may have lost count, so the number never goes back. Attempts after the deadline do not count.
 * Only an award that was never submitted may end without an attempt.
 */
function attemptOf(award: Award, { step, attempt }: ExecutionReport, isTooLate: boolean): number {
  const least = Math.max(award.last_attempt, step === 'FAILED' ? NEVER_SUBMITTED : 1);
  return isTooLate ? least : Math.max(attempt, least);
}

/** The steps before this one whose reports were lost: SUBMITTED, RETRYING. The timeline must have no gaps. */
function missingSteps(award: Award, step: ExecutionReport['step'], attempt: number): ExecutionReport[] {
  if (step === 'SUBMITTED' || attempt === NEVER_SUBMITTED) return [];
  const { award_id, last_attempt: last } = award;
  const before: ExecutionReport[] = [];
  if (last === NEVER_SUBMITTED) before.push({ award_id, step: 'SUBMITTED', attempt: 1 });
  if (step !== 'RETRYING' && attempt > Math.max(1, last))
    before.push({ award_id, step: 'RETRYING', attempt });
  return before;
}

/** Copies field by field: other fields of a report are not journaled. */
function reported({ step, award_id, attempt, reason, settlement }: ExecutionReport, at: Instant): Decided {
  const data = { award_id, attempt, ...(reason === undefined ? {} : { reason }) };
  if (step !== 'CONFIRMED') return { at, body: { type: `EXECUTION_${step}`, data } };
  if (settlement === undefined) return { at, body: { type: 'EXECUTION_CONFIRMED', data } };
  const { venue, asset, delivered_atoms } = settlement;
  const how = { venue, asset, delivered_atoms };
  return { at, body: { type: 'EXECUTION_CONFIRMED', data: { ...data, settlement: how } } };
}
