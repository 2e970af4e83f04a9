import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Feed } from '../feed/feed.js';
import type { StreamLimits } from '../stream-limits.js';
import { NO_SHARD, type ResumePoint } from '../resume-point.js';
import type { ResumeTokens } from '#libs/socket/resume-token.js';
import { markOf, type Subscription } from './subscription.js';

export interface ResumeCursorPorts {
  readonly feed: Feed;
  readonly tokens: ResumeTokens<ResumePoint>;
  readonly clock: Clock;
  readonly limits: Pick<StreamLimits, 'tokenEvents' | 'tokenMillis'>;
}

/** Identifies a connection. Of several sockets that resumed it, the one with the highest attachment is the latest. */
export interface ConnectionName {
  readonly account: string;
  readonly connectionId: string;
  readonly attachment: number;
}

/**
 * How far a connection was sent the journals, with its tokens. All events after a token that have no token of their
 * own come from its `tokenlessShard`, in journal order; other shards' events carry a token. So any gateway can
 * continue exactly after the latest token and `seq`.
 */
export class ResumeCursor {
  private tokenlessShard = NO_SHARD;
  /** By shard, how far a resumed connection was brought. Undefined once it is where the feed is. */
  private cursors: readonly number[] | undefined;
  private delivery: { readonly shard: number; readonly position: number } | undefined;
  private sinceToken = 0;
  private tokenAt = 0n;

  constructor(
    private readonly ports: ResumeCursorPorts,
    private readonly name: ConnectionName,
  ) {}

  /** Starts the events of this position. True if the position changes. */
  enter(shard: number, position: number): boolean {
    if (this.delivery?.shard === shard && this.delivery.position === position) return false;
    this.delivery = { shard, position };
    return true;
  }

  /** Everything of the position in delivery was sent. */
  leave(): void {
    this.delivery = undefined;
  }

  /**
   * The connection continues after a token with this tokenless shard, and was sent everything up to these
   * positions.
   */
  begin(tokenlessShard: number, cursors: readonly number[]): void {
    this.tokenlessShard = tokenlessShard;
    this.cursors = cursors;
  }

  /** From here on the connection is sent what the feed reads. */
  keepUpWithFeed(): void {
    this.cursors = undefined;
    this.delivery = undefined;
  }

  /** The next event carries a token, from whatever shard it comes. */
  forceToken(): void {
    this.tokenlessShard = NO_SHARD;
  }

  /** Counts one more event of the shard. True if it must carry a token. */
  isDue(shard: number, now: bigint): boolean {
    const isOther = shard !== this.tokenlessShard;
    this.tokenlessShard = shard;
    return this.isLate(now) || isOther;
  }

  /** Counts one more event that belongs to no shard's order. True if too many or too long were without a token. */
  isLate(now: bigint): boolean {
    const { tokenEvents, tokenMillis } = this.ports.limits;
    this.sinceToken += 1;
    return this.sinceToken >= tokenEvents || now - this.tokenAt >= BigInt(tokenMillis) * NANOS_PER_MILLI;
  }

  /** A token of the whole connection in its present state. */
  token(subscriptions: Iterable<Subscription>, nextNumber: number): string {
    this.sinceToken = 0;
    this.tokenAt = this.ports.clock.monotonicNanos();
    return this.seal(this.point(subscriptions, nextNumber));
  }

  point(subscriptions: Iterable<Subscription>, nextNumber: number): ResumePoint {
    const { delivery, tokenlessShard } = this;
    const positions = [...(this.cursors ?? this.ports.feed.positions())];
    if (delivery !== undefined) positions[delivery.shard] = delivery.position - 1;
    const marks = [...subscriptions].map((subscription) => markOf(subscription, delivery !== undefined));
    const { connectionId, attachment } = this.name;
    return { connectionId, attachment, positions, tokenlessShard, nextNumber, subscriptions: marks };
  }

  seal(point: ResumePoint): string {
    const now = Number(this.ports.clock.epochNanos() / NANOS_PER_MILLI);
    return this.ports.tokens.seal(point, this.name.account, now);
  }
}
