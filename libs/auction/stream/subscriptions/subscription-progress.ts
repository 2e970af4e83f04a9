import type { HistoryCatchUp } from '../feed/history-catch-up.js';
import type { ResumePoint, SubscriptionMark } from '../resume-point.js';
import { concerns, heldBehind, isTold, shardOf, type Seen } from './subscription.js';

interface Held {
  readonly mark: SubscriptionMark;
  /** Where the events after the token came from. */
  readonly shard: number;
  missing: number;
}

/**
 * How far a client is past its token. This gateway must have as many events before it can send the next one. Each check counts
 * only what came since the one before, so a client that claims to have seen what never was costs no more.
 */
export class SubscriptionProgress {
  private readonly held: readonly Held[];
  private readonly cursors: number[];

  constructor(
    private readonly history: HistoryCatchUp,
    { positions, tokenlessShard, subscriptions }: ResumePoint,
    seen: Seen,
  ) {
    this.cursors = [...positions];
    this.held = subscriptions.flatMap((mark) => {
      const missing = heldBehind(mark, seen);
      // Of one auction all comes out of one shard; of all auctions, what has no token of its own comes out of the tokenless shard.
      const shard = mark.auctionId === undefined ? tokenlessShard : shardOf(mark.auctionId);
      // Without such a shard there is nothing to be counted.
      return isTold(mark) && missing > 0 ? [{ mark, shard, missing }] : [];
    });
  }

  /** Resolves when everything has been counted that the feed does not remember. */
  async recall(): Promise<void> {
    for (const shard of this.shards()) {
      for (;;) {
        this.count(shard);
        if (!this.isForgotten(shard)) break;
        await this.history.recall(shard, this.cursors[shard] ?? 0);
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

  /** Whether the subscription can go on exactly, once what is missing has come. That needs a shard to come from. */
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
    return this.isMissing(shard) && this.history.behind(shard, this.cursors[shard] ?? 0) === undefined;
  }

  private count(shard: number): void {
    const section = this.history.behind(shard, this.cursors[shard] ?? 0);
    if (section === undefined) return;
    for (const gain of section.gains()) {
      for (const held of this.held) {
        if (held.shard === shard && concerns(held.mark, gain)) held.missing -= gain.entries;
      }
    }
    this.cursors[shard] = section.upTo;
  }
}
