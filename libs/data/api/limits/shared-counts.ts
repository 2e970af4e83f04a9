import type { Clock } from '#libs/platform/time/clock.js';
import { PacedPoll } from '#libs/platform/time/paced-poll.js';
import type { CallCountTable } from '../../store/call-count-table.js';
import { WINDOW } from './call-window.js';
import type { CallLimits } from './call-limits.js';

/** Two rounds plus the queries stay within the second after which a limit must hold everywhere. */
const PACE = { busyMillis: 300, idleMillis: 2_000 } as const;
/** An entry may be committed this long after its time. */
const OVERLAP = 5_000;
const ENTRIES_A_ROW = 1_000;
const CLEAN_UP_EVERY = 100;

export interface SharedCountsPorts {
  readonly limits: CallLimits;
  readonly table: CallCountTable;
  readonly clock: Clock;
  /** Unique for each process, even for restarts of the same instance. */
  readonly replica: string;
  readonly onFault: (error: unknown) => void;
}

/** Shares counts of calls with the other replicas. */
export class SharedCounts {
  private readonly polls: PacedPoll;
  /** Entries already read, and until when each may be read again. */
  private readonly readEntries = new Map<number, number>();
  private readAt: number | undefined;
  private rounds = 0;

  constructor(private readonly ports: SharedCountsPorts) {
    this.polls = new PacedPoll(ports.clock, PACE, () => this.exchange());
  }

  start(): void {
    this.polls.start();
  }

  /** Call it for each counted call, so that counts are shared soon. */
  wanted(): void {
    this.polls.wanted();
  }

  async stop(): Promise<void> {
    this.polls.stop();
    await this.publish().catch(() => undefined);
  }

  async exchange(): Promise<void> {
    const { limits, table, onFault } = this.ports;
    try {
      await this.publish();
      await this.receive();
      this.rounds += 1;
      if (this.rounds % CLEAN_UP_EVERY !== 0) return;
      limits.forgetPast();
      await table.forgetPast();
    } catch (error) {
      onFault(error);
    }
  }

  private async publish(): Promise<void> {
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

  private async receive(): Promise<void> {
    const { limits, table, replica } = this.ports;
    const now = limits.now();
    const span = this.readAt === undefined ? WINDOW : Math.min(WINDOW, now - this.readAt + OVERLAP);
    const entries = await table.ofOthers(replica, span);
    this.readAt = now;
    for (const { entryNo, age, calls } of entries) {
      if (this.readEntries.has(entryNo)) continue;
      this.readEntries.set(entryNo, now + WINDOW + OVERLAP);
      for (const [key, before, count] of calls) limits.learn(key, age + before, count);
    }
    for (const [entryNo, until] of this.readEntries) if (until < now) this.readEntries.delete(entryNo);
  }
}
