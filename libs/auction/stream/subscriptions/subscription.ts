import type { FeedEvent } from '../feed/change.js';
import type { Channel, SubscriptionMark } from '../resume-point.js';

/**
 * One subscription of a connection. `seq` counts its events without gaps, through all resumptions of the
 * connection.
 */
export interface Subscription {
  readonly id: string;
  readonly number: number;
  readonly channel: Channel;
  readonly auctionId: string | undefined;
  seq: number;
  /** `seq` before the journal position in delivery. */
  base: number;
  /** The client has everything up to this `seq`. */
  skip: number;
  /** Only then does it get new entries of its account's timelines. */
  isComplete: boolean;
  /** The auction was over for the account before the subscription began: no events will come. */
  isOver: boolean;
  /** While it is sent earlier entries: the last entry of the timeline that was sent. */
  told: number | undefined;
}

export type Seen = Readonly<Record<string, number>>;

/** A client cannot have seen more events after a token, which is valid for a day. Larger numbers would overflow. */
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

/** A subscription from its mark. Events count again from `base`, but those that the client has are not sent again. */
export function restored(mark: SubscriptionMark, seen: Seen): Subscription {
  const { number, channel, auctionId, base, isComplete, isOver, told } = mark;
  const held = heldBehind(mark, seen);
  const common = { id: idOf(number), number, channel, auctionId, isComplete, isOver };
  // Earlier entries are read again after the last one that the client has, and not counted again.
  if (told !== undefined) {
    const seq = base + held;
    return { ...common, seq, base: seq, skip: seq, told: told + held };
  }
  return { ...common, seq: base, base, skip: base + held, told };
}

/** How many events after `base` the client has: those of the token, and those seen since. */
export function heldBehind({ number, base, sent }: SubscriptionMark, seen: Seen): number {
  const said = (seen[idOf(number)] ?? 0) - base;
  return said > MOST_BEHIND_A_TOKEN ? sent : Math.max(sent, said);
}

/** What the client has counts as sent, even if it was not counted here yet. */
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

/** Whether its client has seen more than was counted here. */
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
