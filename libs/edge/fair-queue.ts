import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';

export interface FairQueueLimits {
  /** The most weight that running reads of one account have in total. Further reads wait. */
  readonly readsPerAccount: number;
  /** A read that runs longer probably waits for another system, so it stops counting. */
  readonly readPatience: number;
}

interface QueuedRead {
  readonly weight: number;
  since: bigint;
}

interface WaitingRead {
  readonly read: QueuedRead;
  readonly start: () => void;
}

interface AccountShare {
  /** Oldest first. */
  readonly running: Set<QueuedRead>;
  readonly waiting: WaitingRead[];
  weight: number;
  watched: boolean;
}

/**
 * Reads cost no token, so accounts take turns: a read waits for only a few reads of any other account, however many that sends.
 * A connection runs one request at a time, so the limit of connections bounds this queue.
 */
export class FairQueue {
  private readonly shares = new Map<string, AccountShare>();

  constructor(
    private readonly limits: FairQueueLimits,
    private readonly clock: Clock,
  ) {}

  /** Runs a read when it is its turn. `weight` is its cost compared with the cheapest read. */
  async take<T>(account: string, weight: number, work: () => T | Promise<T>): Promise<T> {
    const share = this.shares.get(account) ?? this.open(account);
    const read: QueuedRead = { weight, since: 0n };
    if (share.waiting.length === 0 && this.fits(share, read)) this.begin(share, read);
    else await this.wait(share, read);
    try {
      return await work();
    } finally {
      this.end(share, read);
      if (share.running.size === 0 && this.shares.get(account) === share) this.shares.delete(account);
    }
  }

  private fits({ running, weight }: AccountShare, read: QueuedRead): boolean {
    return running.size === 0 || weight + read.weight <= this.limits.readsPerAccount;
  }

  private wait(share: AccountShare, read: QueuedRead): Promise<void> {
    return new Promise((start) => {
      share.waiting.push({ read, start });
      this.watch(share);
    });
  }

  private begin(share: AccountShare, read: QueuedRead): void {
    read.since = this.clock.monotonicNanos();
    share.running.add(read);
    share.weight += read.weight;
  }

  private end(share: AccountShare, read: QueuedRead): void {
    if (!share.running.delete(read)) return;
    share.weight -= read.weight;
    for (
      let next = share.waiting[0];
      next !== undefined && this.fits(share, next.read);
      next = share.waiting[0]
    ) {
      share.waiting.shift();
      this.begin(share, next.read);
      next.start();
    }
  }

  private watch(share: AccountShare): void {
    const [oldest] = share.running;
    if (share.watched || oldest === undefined || share.waiting.length === 0) return;
    share.watched = true;
    const age = Number((this.clock.monotonicNanos() - oldest.since) / NANOS_PER_MILLI);
    this.clock.after(Math.max(1, this.limits.readPatience - age), () => {
      share.watched = false;
      this.releaseLateReads(share);
      this.watch(share);
    });
  }

  private releaseLateReads(share: AccountShare): void {
    const lateSince = this.clock.monotonicNanos() - BigInt(this.limits.readPatience) * NANOS_PER_MILLI;
    for (const read of [...share.running]) {
      if (read.since > lateSince || share.waiting.length === 0) return;
      this.end(share, read);
    }
  }

  private open(account: string): AccountShare {
    const share: AccountShare = { running: new Set(), waiting: [], weight: 0, watched: false };
    this.shares.set(account, share);
    return share;
  }
}
