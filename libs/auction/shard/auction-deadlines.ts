import type { ExecutionReport } from '../rules/decide/execution.js';
import type { Instant } from '#libs/base/instant.js';
import type { AuctionState } from '../rules/state.js';
import type { SettlementOutcome } from '../settlement/settlement.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { DeadlineScheduler } from '#libs/shard/deadline-scheduler.js';
import type { Submit } from './auction-task.js';
import { nextDue, type AuctionBook, type AuctionEntry } from './memory/auction-book.js';
import type { AwardCount } from './award-count.js';
import type { AwardConclusion } from './ports.js';
import { DueTask, ExecutionTask } from './tasks/internal-tasks.js';
import { isUndecided } from './tasks/due-events.js';
import type { ShardContext } from './tasks/shard-context.js';

export interface AuctionDeadlinePorts {
  readonly clock: Clock;
  readonly now: () => Instant;
  readonly context: ShardContext;
  readonly book: AuctionBook;
  readonly conclusion: AwardConclusion;
  readonly count: Pick<AwardCount, 'beforeOutcome'>;
  readonly submit: Submit;
}

/** Handles what is due without a command: expiries, closes, execution deadlines. */
export class AuctionDeadlines {
  private readonly deadlines: DeadlineScheduler<string>;

  constructor(private readonly ports: AuctionDeadlinePorts) {
    this.deadlines = new DeadlineScheduler({
      clock: ports.clock,
      now: ports.now,
      clockIsSound: ports.context.clockIsSound,
      onDue: (auctionId) => {
        this.handleDue(auctionId);
      },
    });
  }

  watch(entry: AuctionEntry): void {
    const due = entry.durable === undefined ? undefined : nextDue(entry.durable);
    if (due === undefined || (entry.dueAt !== undefined && entry.dueAt <= due)) return;
    entry.dueAt = due;
    this.deadlines.schedule(due, entry.id);
  }

  stop(): void {
    this.deadlines.stop();
  }

  private handleDue(auctionId: string): void {
    const entry = this.ports.book.find(auctionId);
    if (entry?.durable === undefined) return;
    entry.dueAt = undefined;
    this.check(entry);
  }

  private check(entry: AuctionEntry): void {
    const { durable } = entry;
    const due = durable === undefined ? undefined : nextDue(durable);
    if (due === undefined || due > this.ports.now()) {
      this.watch(entry);
    } else if (due === durable?.execution_deadline) {
      void this.conclude(entry);
    } else if (durable !== undefined && isUndecided(durable)) {
      void this.decide(entry, durable);
    } else {
      this.submitDue(entry);
    }
  }

  private async decide(entry: AuctionEntry, closed: AuctionState): Promise<void> {
    if (!entry.mayDecide) await this.ports.count.beforeOutcome(closed);
    entry.mayDecide = true;
    this.submitDue(entry);
  }

  private submitDue(entry: AuctionEntry): void {
    if (!this.ports.submit(this.dueTask(entry))) this.retryLater(entry);
  }

  /** Schedules the auction again in any case: if the clock is no longer trusted, the task closed nothing. */
  private dueTask(entry: AuctionEntry): DueTask {
    return new DueTask(this.ports.context, entry, () => {
      this.watch(entry);
    });
  }

  /** After the execution deadline, the ledger says for each open award whether it was settled or has failed. */
  private async conclude(entry: AuctionEntry): Promise<void> {
    try {
      for (const award of entry.durable?.awards ?? []) {
        if (award.execution_status === 'CONFIRMED' || award.execution_status === 'FAILED') continue;
        const result = await this.ports.conclusion.abandon(award.award_id, 'EXECUTION_DEADLINE_PASSED');
        const report = reportOf(result, award.last_attempt);
        if (!this.ports.submit(new ExecutionTask(this.ports.context, entry, report))) this.retryLater(entry);
      }
    } catch {
      this.retryLater(entry);
    }
  }

  private retryLater(entry: AuctionEntry): void {
    this.deadlines.retry(() => {
      this.check(entry);
    });
  }
}

function reportOf(result: SettlementOutcome, attempt: number): ExecutionReport {
  const { award_id } = result;
  if (result.outcome === 'FAILED') return { award_id, step: 'FAILED', attempt, reason: result.reason };
  return { award_id, step: 'CONFIRMED', attempt, settlement: result.settlement };
}
