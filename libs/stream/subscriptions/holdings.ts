import type { Feed } from '../feed/feed.js';
import type { ResumePoint, SubscriptionMark } from '../resume-point.js';
import { concerns, heldBehind, type Seen } from './subscription.js';

interface Held {
  readonly mark: SubscriptionMark;
  /** Out of which the client has what it holds behind the token. */
  readonly shard: number;
  missing: number;
}

/**
 * What a client holds already behind its token, looked for in this gateway's feed: there must be as much before the client
 * can be told what comes next. Every look counts only what has come since the last one, so that nobody can make us count
 * again and again by claiming to have seen what never was.
 */
export class Holdings {
  private readonly held: readonly Held[];
  private readonly cursors: number[];

  constructor(
    private readonly feed: Feed,
    private readonly account: string,
    private readonly point: ResumePoint,
    seen: Seen,
  ) {
    this.cursors = [...point.positions];
    this.held = point.subscriptions.flatMap((mark) => {
      const missing = heldBehind(mark, seen);
      return isTold(mark) && missing > 0 ? [{ mark, shard: laneOf(mark, point), missing }] : [];
    });
  }

  /** Whether there is anything to wait for. */
  areComing(): boolean {
    this.look();
    return this.held.some(({ missing, shard }) => missing > 0 && this.isHeard(shard));
  }

  /** Whether the subscription can be told exactly what comes next. */
  canContinue(mark: SubscriptionMark): boolean {
    if (!isTold(mark)) return mark.isComplete;
    const shards =
      mark.auctionId === undefined ? [...this.point.positions.keys()] : [laneOf(mark, this.point)];
    return (
      shards.every((shard) => this.feed.reaches(shard, this.point.positions[shard] ?? 0)) &&
      this.held.every((held) => held.mark !== mark || held.missing <= 0)
    );
  }

  /** What the history has lost cannot be counted any more, and without a lane there is nothing to be counted. */
  private isHeard(shard: number): boolean {
    return this.feed.reaches(shard, this.cursors[shard] ?? 0);
  }

  private look(): void {
    for (const shard of new Set(this.held.map((held) => held.shard))) {
      const from = this.cursors[shard] ?? 0;
      if (!this.isHeard(shard)) continue;
      for (const gain of this.feed.gainsSince(this.account, shard, from)) {
        for (const held of this.held) {
          if (held.shard === shard && concerns(held.mark, gain)) held.missing -= gain.entries;
        }
      }
      this.cursors[shard] = this.feed.positions()[shard] ?? from;
    }
  }
}

function isTold({ isComplete, isOver }: SubscriptionMark): boolean {
  return isComplete && !isOver;
}

/** Of one auction all comes out of one shard; of all auctions, what has no token of its own comes out of the lane. */
function laneOf({ auctionId }: SubscriptionMark, { lane }: ResumePoint): number {
  return auctionId === undefined ? lane : shardOf(auctionId);
}

/** The first hex digit of an auction's id. */
function shardOf(auctionId: string): number {
  return Number.parseInt(auctionId.charAt(0), 16);
}
