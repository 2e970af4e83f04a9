import type { FeedEvent } from '../feed/change.js';
import type { Channel, SubscriptionMark } from '../resume-point.js';

/** One subscription of a connection. `seq` counts its events and has no gaps, whatever becomes of the connection. */
export interface Subscription {
  readonly id: string;
  readonly number: number;
  readonly channel: Channel;
  readonly auctionId: string | undefined;
  seq: number;
  /** `seq` before the journal position that is in delivery. */
  base: number;
  /** The client holds everything up to here. */
  skip: number;
  /** Only then it gets what its account's timelines gain. */
  isComplete: boolean;
  /** The auction was over for the account before the subscription began: nothing will come. */
  isOver: boolean;
  /** While it gets what its client missed before it: up to which entry of the timeline that is. */
  told: number | undefined;
}

export type Seen = Readonly<Record<string, number>>;

/** A client cannot have seen more than this after a token, which lives a day. Larger numbers would overflow. */
const MOST_BEHIND_A_TOKEN = 2 ** 31;

export function idOf(number: number): string {
  return `s${number}`;
}

export function newSubscription(
  number: number,
  channel: Channel,
  auctionId: string | undefined,
  told?: number,
): Subscription {
  return {
    id: idOf(number),
    number,
    channel,
    auctionId,
    seq: 0,
    base: 0,
    skip: 0,
    isComplete: false,
    isOver: false,
    told,
  };
}

/** As the mark says. Its events are counted again from `base`, and those that the client holds are not sent again. */
export function restored(mark: SubscriptionMark, seen: Seen): Subscription {
  const { number, channel, auctionId, base, isComplete, isOver, told } = mark;
  const held = heldBehind(mark, seen);
  const rest = { id: idOf(number), number, channel, auctionId, isComplete, isOver };
  // Earlier entries are read again after the last that the client holds, and not counted again.
  if (told !== undefined) {
    const seq = base + held;
    return { ...rest, seq, base: seq, skip: seq, told: told + held };
  }
  return { ...rest, seq: base, base, skip: base + held, told };
}

/** How many events after `base` the client holds: those of the token, and those that it has seen since. */
export function heldBehind({ number, base, sent }: SubscriptionMark, seen: Seen): number {
  const said = (seen[idOf(number)] ?? 0) - base;
  return said > MOST_BEHIND_A_TOKEN ? sent : Math.max(sent, said);
}

/** What the client holds counts as sent, also where it was not counted again yet. */
export function markOf(subscription: Subscription, isInDelivery: boolean): SubscriptionMark {
  const { number, channel, auctionId, seq, skip, isComplete, isOver, told } = subscription;
  const base = isInDelivery && told === undefined ? subscription.base : seq;
  const sent = Math.max(seq, skip) - base;
  return { number, channel, auctionId, base, sent, isComplete, isOver, told };
}

/** Whether it gets events. */
export function isTold({ isComplete, isOver }: Pick<SubscriptionMark, 'isComplete' | 'isOver'>): boolean {
  return isComplete && !isOver;
}

/** Whether its client has seen more of it than was counted here. */
export function isAhead(subscription: Subscription): boolean {
  return isTold(subscription) && subscription.seq < subscription.skip;
}

/** The first hex digit of an auction's id. */
export function shardOf(auctionId: string): number {
  return Number.parseInt(auctionId.charAt(0), 16);
}

export function concerns(
  { channel, auctionId }: Pick<Subscription, 'channel' | 'auctionId'>,
  event: Pick<FeedEvent, 'auctionId'>,
): boolean {
  return channel === 'auctions' || auctionId === event.auctionId;
}
