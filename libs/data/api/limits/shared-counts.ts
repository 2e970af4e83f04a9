import type { Clock } from '#libs/platform/time/clock.js';
import { PacedPoll } from '#libs/platform/time/paced-poll.js';
import type { CallCountTable } from '../../store/call-count-table.js';
import { WINDOW } from './call-window.js';
import type { CallLimits } from './call-limits.js';

/** Two of these, and the time that the database takes, are within the second that the replicas have. */
const PACE = { busyMillis: 300, idleMillis: 2_000 } as const;
/** An entry may be committed this much after its moment. */
const OVERLAP = 5_000;
const ENTRIES_A_ROW = 1_000;
const TIDY_EVERY = 100;

export interface SharedCountsPorts {
  readonly limits: CallLimits;
  readonly table: CallCountTable;
  readonly clock: Clock;
  /** Told apart from all other processes, earlier ones of this name too. */
  readonly replica: string;
  readonly onFault: (error: unknown) => void;
}

/** Exchanges the counts of calls with the other replicas. */
export class SharedCounts {
  private readonly polls: PacedPoll;
  /** By entry; until when it would come again. */
  private readonly seen = new Map<number, number>();
  private readAt: number | undefined;
  private turns = 0;

  constructor(private readonly ports: SharedCountsPorts) {
    this.polls = new PacedPoll(ports.clock, PACE, () => this.exchange());
  }

  start(): void {
    this.polls.start();
  }

  /** Someone is calling. */
  wanted(): void {
    this.polls.wanted();
  }

  async stop(): Promise<void> {
    this.polls.stop();
    await this.tell().catch(() => undefined);
  }

  async exchange(): Promise<void> {
    const { limits, table, onFault } = this.ports;
    try {
      await this.tell();
      await this.hear();
      this.turns += 1;
      if (this.turns % TIDY_EVERY !== 0) return;
      limits.forgetPast();
      await table.forgetPast();
    } catch (error) {
      onFault(error);
    }
  }

  private async tell(): Promise<void> {
    const { limits, table, replica } = this.ports;
    const fresh = limits.takeFresh();
    for (let from = 0; from < fresh.length; from += ENTRIES_A_ROW) {
      const now = limits.now();
      const part = fresh.slice(from, from + ENTRIES_A_ROW);
      try {
        await table.write(
          replica,
          part.map(({ key, at, calls }) => [key, now - at, calls]),
        );
      } catch (error) {
        limits.putBack(fresh.slice(from));
        throw error;
      }
    }
  }

  private async hear(): Promise<void> {
    const { limits, table, replica } = this.ports;
    const now = limits.now();
    const span = this.readAt === undefined ? WINDOW : Math.min(WINDOW, now - this.readAt + OVERLAP);
    const entries = await table.ofOthers(replica, span);
    this.readAt = now;
    for (const { entryNo, age, calls } of entries) {
      if (this.seen.has(entryNo)) continue;
      this.seen.set(entryNo, now + WINDOW + OVERLAP);
      for (const [key, before, count] of calls) limits.learn(key, age + before, count);
    }
    for (const [entryNo, until] of this.seen) if (until < now) this.seen.delete(entryNo);
  }
}
