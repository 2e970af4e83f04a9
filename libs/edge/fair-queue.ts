import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';

export interface FairQueueLimits {
  /** The total weight of running reads of one account; further ones wait. */
  readonly readsPerAccount: number;
  /** A read that takes longer waits for another system itself, and gives up its share. */
  readonly readPatience: number;
}

interface QueuedRead {
  readonly weight: number;
  since: bigint;
}

interface Waiter {
  readonly turn: QueuedRead;
  readonly go: () => void;
}

interface AccountShare {
  /** Oldest first. */
  readonly running: Set<QueuedRead>;
  readonly waiting: Waiter[];
  weight: number;
  watched: boolean;
}

/**
 * Reads cost no token, so accounts take turns: however many reads one account sends, another's read waits for only a few of them.
 * A connection runs at most one request, so connections bound the length of this queue.
 */
export class FairQueue {
  private readonly shares = new Map<string, AccountShare>();

  constructor(
    private readonly limits: FairQueueLimits,
    private readonly clock: Clock,
  ) {}

  /** `weight` is the part of the account's share that the read uses: roughly its cost in cheapest reads. */
  async take<T>(account: string, weight: number, work: () => T | Promise<T>): Promise<T> {
    const share = this.shares.get(account) ?? this.open(account);
    const turn: QueuedRead = { weight, since: 0n };
    if (share.waiting.length === 0 && this.fits(share, turn)) this.begin(share, turn);
    else await this.wait(share, turn);
    try {
      return await work();
    } finally {
      this.end(share, turn);
      if (share.running.size === 0 && this.shares.get(account) === share) this.shares.delete(account);
    }
  }

  private fits({ running, weight }: AccountShare, turn: QueuedRead): boolean {
    return running.size === 0 || weight + turn.weight <= this.limits.readsPerAccount;
  }

  private wait(share: AccountShare, turn: QueuedRead): Promise<void> {
    return new Promise((go) => {
      share.waiting.push({ turn, go });
      this.watch(share);
    });
  }

  private begin(share: AccountShare, turn: QueuedRead): void {
    turn.since = this.clock.monotonicNanos();
    share.running.add(turn);
    share.weight += turn.weight;
  }

  private end(share: AccountShare, turn: QueuedRead): void {
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
