import { NANOS_PER_MILLI } from '#libs/base/instant.js';
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

interface AccountShare {
  /** Oldest first. */
  readonly running: Set<Turn>;
  readonly waiting: Waiter[];
  weight: number;
  watched: boolean;
}

/**
 * Reads cost no token, so accounts take turns instead: however many reads one has sent, another's finds only a few of them
 * before it. Every connection has at most one request in work, so connections bound how many can wait here.
 */
export class FairQueue {
  private readonly shares = new Map<string, AccountShare>();

  constructor(
    private readonly limits: FairQueueLimits,
    private readonly clock: Clock,
  ) {}

  /** `weight` says how much of the account's share the read takes up: about what it costs, beside the least one. */
  async take<T>(account: string, weight: number, work: () => T | Promise<T>): Promise<T> {
    const share = this.shares.get(account) ?? this.open(account);
    const turn: Turn = { weight, since: 0n };
    if (share.waiting.length === 0 && this.fits(share, turn)) this.begin(share, turn);
    else await this.wait(share, turn);
    try {
      return await work();
    } finally {
      this.end(share, turn);
      if (share.running.size === 0 && this.shares.get(account) === share) this.shares.delete(account);
    }
  }

  private fits({ running, weight }: AccountShare, turn: Turn): boolean {
    return running.size === 0 || weight + turn.weight <= this.limits.readsPerAccount;
  }

  private wait(share: AccountShare, turn: Turn): Promise<void> {
    return new Promise((go) => {
      share.waiting.push({ turn, go });
      this.watch(share);
    });
  }

  private begin(share: AccountShare, turn: Turn): void {
    turn.since = this.clock.monotonicNanos();
    share.running.add(turn);
    share.weight += turn.weight;
  }

  private end(share: AccountShare, turn: Turn): void {
    if (!share.running.delete(turn)) return;
    share.weight -= turn.weight;
    for (
      let next = share.waiting[0];
      next !== undefined && this.fits(share, next.turn);
      next = share.waiting[0]
    ) {
      share.waiting.shift();
      this.begin(share, next.turn);
      next.go();
    }
  }

  private watch(share: AccountShare): void {
    const [oldest] = share.running;
    if (share.watched || oldest === undefined || share.waiting.length === 0) return;
    share.watched = true;
    const age = Number((this.clock.monotonicNanos() - oldest.since) / NANOS_PER_MILLI);
    this.clock.after(Math.max(1, this.limits.readPatience - age), () => {
      share.watched = false;
      this.endLateTurns(share);
      this.watch(share);
    });
  }

  private endLateTurns(share: AccountShare): void {
    const late = this.clock.monotonicNanos() - BigInt(this.limits.readPatience) * NANOS_PER_MILLI;
    for (const turn of [...share.running]) {
      if (turn.since > late || share.waiting.length === 0) return;
      this.end(share, turn);
    }
  }

  private open(account: string): AccountShare {
    const share: AccountShare = { running: new Set(), waiting: [], weight: 0, watched: false };
    this.shares.set(account, share);
    return share;
  }
}
