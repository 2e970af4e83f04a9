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

/** Whose connection it is. Of several sockets that went on with it the one with the highest attachment is the latest. */
export interface ConnectionName {
  readonly account: string;
  readonly connectionId: string;
  readonly attachment: number;
}

/**
 * How far a connection was sent the journals, and the tokens that say so.
 *
 * Several journals run side by side, so the order in which two shards' events reach a client is this gateway's own and no
 * other gateway could repeat it. It need not: all events behind a token that have no token of their own come out of one
 * shard, the token's `tokenlessShard`, and within a shard the order is the journal's. The first event of another shard carries a token.
 * So whoever resumes with its latest token and the last `seq` it saw is continued exactly, by any gateway.
 */
export class ResumeCursor {
  private tokenlessShard = NO_SHARD;
  /** By shard, how far a connection that is being resumed has been brought; without it that is where the feed is. */
  private cursors: readonly number[] | undefined;
  private delivery: { readonly shard: number; readonly position: number } | undefined;
  private sinceToken = 0;
  private tokenAt = 0n;

  constructor(
    private readonly ports: ResumeCursorPorts,
    private readonly name: ConnectionName,
  ) {}

  /** The next events are of this position. True when that is another one than before. */
  enter(shard: number, position: number): boolean {
    if (this.delivery?.shard === shard && this.delivery.position === position) return false;
    this.delivery = { shard, position };
    return true;
  }

  /** All of the position in delivery was sent. */
  leave(): void {
    this.delivery = undefined;
  }

  /** The connection goes on behind a token with this tokenless shard and has been told everything up to here. */
  begin(tokenlessShard: number, cursors: readonly number[]): void {
    this.tokenlessShard = tokenlessShard;
    this.cursors = cursors;
  }

  /** From here on the connection is sent what the feed takes in. */
  keepUpWithFeed(): void {
    this.cursors = undefined;
    this.delivery = undefined;
  }

  /** The next event carries a token, wherever it comes from. */
  forceToken(): void {
    this.tokenlessShard = NO_SHARD;
  }

  /** Counts one more event out of the shard; whether it has to carry a token. */
  isDue(shard: number, now: bigint): boolean {
    const isOther = shard !== this.tokenlessShard;
    this.tokenlessShard = shard;
    return this.isLate(now) || isOther;
  }

  /** Counts one more event, which comes out of no shard's order; whether so many or so long were without a token. */
  isLate(now: bigint): boolean {
    const { tokenEvents, tokenMillis } = this.ports.limits;
    this.sinceToken += 1;
    return this.sinceToken >= tokenEvents || now - this.tokenAt >= BigInt(tokenMillis) * NANOS_PER_MILLI;
  }

  /** Stands for the whole connection as it is now. */
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
