import type { HistoryCatchUp } from '../feed/history-catch-up.js';
import type { ResumePoint, SubscriptionMark } from '../resume-point.js';
import { concerns, heldBehind, isTold, shardOf, type Seen } from './subscription.js';

interface MissingEvents {
  readonly mark: SubscriptionMark;
  /** The shard of the events after the token. */
  readonly shard: number;
  missing: number;
}

/**
 * How many events past its token a client is. This gateway must find as many before it can send the next one. Each
 * check counts only what came since the last one, so a false claim of the client costs no more.
 */
export class SubscriptionProgress {
  private readonly missing: readonly MissingEvents[];
  private readonly cursors: number[];

  constructor(
    private readonly history: HistoryCatchUp,
    { positions, tokenlessShard, subscriptions }: ResumePoint,
    seen: Seen,
  ) {
    this.cursors = [...positions];
    this.missing = subscriptions.flatMap((mark) => {
      const missing = heldBehind(mark, seen);
      // Events of one auction come from one shard. For all auctions, events without a token come from the tokenless
      // shard.
      const shard = mark.auctionId === undefined ? tokenlessShard : shardOf(mark.auctionId);
      // Without such a shard there is nothing to count.
      return isTold(mark) && missing > 0 ? [{ mark, shard, missing }] : [];
    });
  }

  /** Resolves when everything that the feed has forgotten was counted. */
  async recall(): Promise<void> {
    for (const shard of this.shards()) {
      for (;;) {
        this.count(shard);
        if (!this.isForgotten(shard)) break;
        await this.history.recall(shard, this.cursors[shard] ?? 0);
      }
    }
  }

  /** Whether more can come before the heads of the journals are reached. */
  areComing(heads: readonly number[]): boolean {
    for (const shard of this.shards()) this.count(shard);
    return this.shards().some((shard) => {
      const isBehind = (this.cursors[shard] ?? 0) < (heads[shard] ?? 0);
      return this.isMissing(shard) && isBehind && !this.isForgotten(shard);
    });
  }

  /** Whether missing events have come and were forgotten. */
  areForgotten(): boolean {
    return this.shards().some((shard) => this.isForgotten(shard));
  }

  /**
   * Whether the subscription can continue exactly once the missing events have come. They need a shard to come
   * from.
   */
  canContinue(mark: SubscriptionMark): boolean {
    return mark.isComplete && this.missing.every((held) => held.mark !== mark || held.shard in this.cursors);
  }

  private shards(): number[] {
    return [...new Set(this.missing.map(({ shard }) => shard))].filter((shard) => shard in this.cursors);
  }

  private isMissing(shard: number): boolean {
    return this.missing.some((held) => held.shard === shard && held.missing > 0);
  }

  private isForgotten(shard: number): boolean {
    return this.isMissing(shard) && this.history.behind(shard, this.cursors[shard] ?? 0) === undefined;
  }

  private count(shard: number): void {
    const section = this.history.behind(shard, this.cursors[shard] ?? 0);
    if (section === undefined) return;
    for (const gain of section.gains()) {
      for (const held of this.missing) {
        if (held.shard === shard && concerns(held.mark, gain)) held.missing -= gain.entries;
      }
    }
    this.cursors[shard] = section.upTo;
  }
}
