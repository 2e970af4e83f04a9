import { completed, hasEnded, settlementOf } from './completion.js';
import type { Decided, Decision, Moment } from './decided.js';
import type { ExecutionStep } from './events.js';
import type { AuctionState, Award } from './state.js';

/** What became of an award at its venue, as its carrier tells it; telling it again changes nothing. */
export interface ExecutionReport extends ExecutionStep {
  readonly step: 'SUBMITTED' | 'RETRYING' | 'CONFIRMED' | 'FAILED';
}

export function decideExecution(state: AuctionState, report: ExecutionReport, { now }: Moment): Decision {
  const award = state.awards.find((candidate) => candidate.award_id === report.award_id);
  if (award === undefined || !isNews(award, report)) return { ok: true, events: [] };
  const { step, award_id, attempt, reason } = report;
  const data = { award_id, attempt, ...(reason === undefined ? {} : { reason }) };
  const events: Decided[] = [{ at: now, body: { type: `EXECUTION_${step}`, data } }];
  if (step === 'CONFIRMED' || step === 'FAILED') {
    const settlement = settlementOf(state.awards.map((one) => (one === award ? step : one.execution_status)));
    if (settlement !== undefined) events.push(completed(now, settlement));
  }
  return { ok: true, events };
}

function isNews(award: Award, { step, attempt }: ExecutionReport): boolean {
  if (hasEnded(award.execution_status)) return false;
  if (step === 'SUBMITTED') return award.execution_status === 'PENDING';
  return step !== 'RETRYING' || attempt > award.last_attempt;
}
