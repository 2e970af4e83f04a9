import type { ExecutionReport } from '../rules/decide/execution.js';
import type { Instant } from '#libs/base/instant.js';
import { millisBetween } from '#libs/base/instant.js';
import type { AuctionState } from '../rules/state.js';
import type { SettlementOutcome } from '../settlement/settlement.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { Agenda } from '#libs/shard/agenda.js';
import { nextDue, type AuctionBook, type Entry } from './memory/auction-book.js';
import type { AwardCount } from './award-count.js';
import type { AwardConclusion } from './ports.js';
import { DueTask, ExecutionTask } from './tasks/internal-tasks.js';
import { isUndecided } from './tasks/due-events.js';
import type { ShardContext } from './tasks/shard-context.js';
import type { Task } from '#libs/shard/task.js';

export interface AttendancePorts {
  readonly clock: Clock;
  readonly now: () => Instant;
  readonly context: ShardContext;
  readonly book: AuctionBook;
  readonly conclusion: AwardConclusion;
  readonly count: Pick<AwardCount, 'beforeOutcome'>;
  readonly submit: (task: Task) => boolean;
}

/** How soon to look again when what is due cannot be done yet. */
const RETRY_MILLIS = 100;
const MAX_AT_ONCE = 512;
/** A clock that is set forward, or a machine that has slept, makes things due long before a timer would run. */
const LOOK_EVERY_MILLIS = 1_000;

/** Sees to it that what falls due happens without anybody asking: expiries, closes, execution deadlines. */
export class Attendance {
  private readonly agenda = new Agenda();
  private timer: { readonly at: Instant; readonly cancel: Cancel } | undefined;
  private stopped = false;

  constructor(private readonly ports: AttendancePorts) {}

  watch(entry: Entry): void {
    const due = entry.durable === undefined ? undefined : nextDue(entry.durable);
    if (due === undefined || (entry.dueAt !== undefined && entry.dueAt <= due)) return;
    entry.dueAt = due;
    this.agenda.add({ at: due, auctionId: entry.id });
    this.arm();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private arm(atLeastMillis = 0): void {
    const next = this.agenda.next();
    if (next === undefined || this.stopped) return;
    if (this.timer !== undefined && this.timer.at <= next && atLeastMillis === 0) return;
    this.timer?.cancel();
    // Rounded up, so that the timer does not run a fraction of a millisecond before what it waits for.
    const due = Math.min(millisBetween(this.ports.now(), next) + 1, LOOK_EVERY_MILLIS);
    const wait = Math.max(atLeastMillis, due);
    const cancel = this.ports.clock.after(wait, () => {
      this.timer = undefined;
      this.attend();
    });
    this.timer = { at: next, cancel };
  }

  private attend(): void {
    if (!this.ports.context.clockIsSound()) {
      this.arm(RETRY_MILLIS);
      return;
    }
    for (const { auctionId } of this.agenda.takeDue(this.ports.now(), MAX_AT_ONCE)) {
      const entry = this.ports.book.find(auctionId);
      if (entry?.durable === undefined) continue;
      entry.dueAt = undefined;
      this.see(entry);
    }
    this.arm();
  }

  private see(entry: Entry): void {
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

  private async decide(entry: Entry, closed: AuctionState): Promise<void> {
    if (!entry.mayDecide) await this.ports.count.beforeOutcome(closed);
    entry.mayDecide = true;
    this.submitDue(entry);
  }

  private submitDue(entry: Entry): void {
    if (!this.ports.submit(this.dueTask(entry))) this.again(entry);
  }

  /** Watched anew whatever has come of it: a clock that lost our trust meanwhile has closed nothing. */
  private dueTask(entry: Entry): DueTask {
    return new DueTask(this.ports.context, entry, () => {
      this.watch(entry);
    });
  }

  /** The deadline has passed: every award that has not ended is settled or failed, and the ledger knows which. */
  private async conclude(entry: Entry): Promise<void> {
    try {
      for (const award of entry.durable?.awards ?? []) {
        if (award.execution_status === 'CONFIRMED' || award.execution_status === 'FAILED') continue;
        const stands = await this.ports.conclusion.abandon(award.award_id, 'EXECUTION_DEADLINE_PASSED');
        const report = reportOf(stands, award.last_attempt);
        if (!this.ports.submit(new ExecutionTask(this.ports.context, entry, report))) this.again(entry);
      }
    } catch {
      this.again(entry);
    }
  }

  private again(entry: Entry): void {
    if (this.stopped) return;
    this.ports.clock.after(RETRY_MILLIS, () => {
      this.see(entry);
    });
  }
}

function reportOf(stands: SettlementOutcome, attempt: number): ExecutionReport {
  const { award_id } = stands;
  if (stands.outcome === 'FAILED') return { award_id, step: 'FAILED', attempt, reason: stands.reason };
  return { award_id, step: 'CONFIRMED', attempt, settlement: stands.settlement };
}
