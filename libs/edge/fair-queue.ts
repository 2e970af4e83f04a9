import type { Clock } from '#libs/platform/time/clock.js';

export interface FairQueueLimits {
  /** What reads of one account that are in work at once may weigh together; the others wait. */
  readonly readsPerAccount: number;
  /** One that takes longer waits for another system itself, and gives up its share. */
  readonly readPatience: number;
}

interface Turn {
  readonly weight: number;
  since: bigint;
}

interface Waiter {
  readonly turn: Turn;
  readonly go: () => void;
}

interface Lane {
  /** Oldest first. */
  readonly running: Set<Turn>;
  readonly waiting: Waiter[];
  weight: number;
  watched: boolean;
}

const NANOS_PER_MILLI = 1_000_000n;

/**
 * Reads cost no token, so accounts take turns instead: however many reads one has sent, another's finds only a few of them
 * before it. Every connection has at most one request in work, so connections bound how many can wait here.
 */
export class FairQueue {
  private readonly lanes = new Map<string, Lane>();

  constructor(
    private readonly limits: FairQueueLimits,
    private readonly clock: Clock,
  ) {}

  /** `weight` says how much of the account's share the read takes up: about what it costs, beside the least one. */
  async take<T>(account: string, weight: number, work: () => T | Promise<T>): Promise<T> {
    const lane = this.lanes.get(account) ?? this.open(account);
    const turn: Turn = { weight, since: 0n };
    if (lane.waiting.length === 0 && this.fits(lane, turn)) this.begin(lane, turn);
    else await this.wait(lane, turn);
    try {
      return await work();
    } finally {
      this.end(lane, turn);
      if (lane.running.size === 0 && this.lanes.get(account) === lane) this.lanes.delete(account);
    }
  }

  private fits({ running, weight }: Lane, turn: Turn): boolean {
    return running.size === 0 || weight + turn.weight <= this.limits.readsPerAccount;
  }

  private wait(lane: Lane, turn: Turn): Promise<void> {
    return new Promise((go) => {
      lane.waiting.push({ turn, go });
      this.watch(lane);
    });
  }

  private begin(lane: Lane, turn: Turn): void {
    turn.since = this.clock.monotonicNanos();
    lane.running.add(turn);
    lane.weight += turn.weight;
  }

  private end(lane: Lane, turn: Turn): void {
    if (!lane.running.delete(turn)) return;
    lane.weight -= turn.weight;
    for (
      let next = lane.waiting[0];
      next !== undefined && this.fits(lane, next.turn);
      next = lane.waiting[0]
    ) {
      lane.waiting.shift();
      this.begin(lane, next.turn);
      next.go();
    }
  }

  private watch(lane: Lane): void {
    const [oldest] = lane.running;
    if (lane.watched || oldest === undefined || lane.waiting.length === 0) return;
    lane.watched = true;
    const age = Number((this.clock.monotonicNanos() - oldest.since) / NANOS_PER_MILLI);
    this.clock.after(Math.max(1, this.limits.readPatience - age), () => {
      lane.watched = false;
      this.giveUpPlaces(lane);
      this.watch(lane);
    });
  }

  private giveUpPlaces(lane: Lane): void {
    const late = this.clock.monotonicNanos() - BigInt(this.limits.readPatience) * NANOS_PER_MILLI;
    for (const turn of [...lane.running]) {
      if (turn.since > late || lane.waiting.length === 0) return;
      this.end(lane, turn);
    }
  }

  private open(account: string): Lane {
    const lane: Lane = { running: new Set(), waiting: [], weight: 0, watched: false };
    this.lanes.set(account, lane);
    return lane;
  }
}
