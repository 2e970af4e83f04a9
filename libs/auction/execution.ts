import type { Decided, Decision, Moment } from './decided.js';
import type { CompletedStatus, ExecutionStep } from './events.js';
import type { AuctionState, Award, ExecutionStatus } from './state.js';

/** What became of an award at its venue, as its carrier tells it; telling it again changes nothing. */
export interface ExecutionReport extends ExecutionStep {
  readonly step: 'SUBMITTED' | 'RETRYING' | 'CONFIRMED' | 'FAILED';
}

export function decideExecution(state: AuctionState, report: ExecutionReport, { now }: Moment): Decision {
  const award = state.awards.find((candidate) => candidate.award_id === report.award_id);
  if (award === undefined || !isNews(award, report)) return { ok: true, events: [] };
  const { step, ...data } = report;
  const events: Decided[] = [{ at: now, body: { type: `EXECUTION_${step}`, data } }];
  const ended = endOf(state, award, step);
  if (ended !== undefined) {
    events.push({ at: now, body: { type: 'AUCTION_COMPLETED', data: { status: ended } } });
  }
  return { ok: true, events };
}

function isNews(award: Award, { step, attempt }: ExecutionReport): boolean {
  if (isEnded(award.execution_status)) return false;
  if (step === 'SUBMITTED') return award.execution_status === 'PENDING';
  return step !== 'RETRYING' || attempt > award.last_attempt;
}

function isEnded(status: ExecutionStatus): boolean {
  return status === 'CONFIRMED' || status === 'FAILED';
}

/** How the auction ends if this report ends the last award that was open. */
function endOf(state: AuctionState, award: Award, step: ExecutionReport['step']): CompletedStatus | undefined {
  if (step !== 'CONFIRMED' && step !== 'FAILED') return undefined;
  const statuses = state.awards.map((one) => (one === award ? step : one.execution_status));
  if (!statuses.every(isEnded)) return undefined;
  if (statuses.every((status) => status === 'CONFIRMED')) return 'SETTLED';
  return statuses.includes('CONFIRMED') ? 'PARTIALLY_SETTLED' : 'EXECUTION_FAILED';
}
