import type { Recollection } from '../feed/recollection.js';
import type { ResumePoint, SubscriptionMark } from '../resume-point.js';
import { concerns, heldBehind, isTold, shardOf, type Seen } from './subscription.js';

interface Held {
  readonly mark: SubscriptionMark;
  /** Out of which the client has what it holds behind the token. */
  readonly shard: number;
  missing: number;
}

/**
 * What a client holds already behind its token, looked for at this gateway, as far as the journals are known to go: there must be as
 * much before the client can be told what comes next. Every look counts only what has come since the last one, so that nobody can make us count again and
 * again by claiming to have seen what never was.
 */
export class Holdings {
  private readonly held: readonly Held[];
  private readonly cursors: number[];

  constructor(
    private readonly recollection: Recollection,
    { positions, lane, subscriptions }: ResumePoint,
    seen: Seen,
  ) {
    this.cursors = [...positions];
    this.held = subscriptions.flatMap((mark) => {
      const missing = heldBehind(mark, seen);
      // Of one auction all comes out of one shard; of all auctions, what has no token of its own comes out of the lane.
      const shard = mark.auctionId === undefined ? lane : shardOf(mark.auctionId);
      // Without a lane there is nothing to be counted.
      return isTold(mark) && missing > 0 ? [{ mark, shard, missing }] : [];
    });
  }

  /** Resolves when everything has been counted that the feed does not remember. */
  async recall(): Promise<void> {
    for (const shard of this.shards()) {
      for (;;) {
        this.count(shard);
        if (!this.isForgotten(shard)) break;
        await this.recollection.recall(shard, this.cursors[shard] ?? 0);
      }
    }
  }

  /** Whether there is anything to wait for, up to where the journals end. */
  areComing(heads: readonly number[]): boolean {
    for (const shard of this.shards()) this.count(shard);
    return this.shards().some((shard) => {
      const isBehind = (this.cursors[shard] ?? 0) < (heads[shard] ?? 0);
      return this.isMissing(shard) && isBehind && !this.isForgotten(shard);
    });
  }

  /** Whether something has come and gone. */
  areForgotten(): boolean {
    return this.shards().some((shard) => this.isForgotten(shard));
  }

  /** Whether the subscription can be told exactly what comes next, if only what is missing comes: it must come out of some shard. */
  canContinue(mark: SubscriptionMark): boolean {
    return mark.isComplete && this.held.every((held) => held.mark !== mark || held.shard in this.cursors);
  }

  private shards(): number[] {
    return [...new Set(this.held.map(({ shard }) => shard))].filter((shard) => shard in this.cursors);
  }

  private isMissing(shard: number): boolean {
    return this.held.some((held) => held.shard === shard && held.missing > 0);
  }

  private isForgotten(shard: number): boolean {
    return this.isMissing(shard) && this.recollection.behind(shard, this.cursors[shard] ?? 0) === undefined;
  }

  private count(shard: number): void {
    const section = this.recollection.behind(shard, this.cursors[shard] ?? 0);
    if (section === undefined) return;
    for (const gain of section.gains()) {
      for (const held of this.held) {
        if (held.shard === shard && concerns(held.mark, gain)) held.missing -= gain.entries;
      }
    }
    this.cursors[shard] = section.upTo;
  }
}
