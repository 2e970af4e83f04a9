import type { FeedEvent } from '../feed/change.js';
import type { Channel, SubscriptionMark } from '../resume-point.js';

/** One subscription of a connection. `seq` counts its events and has no holes, whatever becomes of the connection. */
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
  /** Only then it is told what its account's timelines gain. */
  isComplete: boolean;
  /** The auction was over for the account before the subscription began: nothing will come. */
  isOver: boolean;
  /** While it is told what its client missed before it: up to which entry of the timeline that is. */
  told: number | undefined;
}

export type Seen = Readonly<Record<string, number>>;

/** What is said to have been seen beyond this cannot be true of a token that lives a day, and would spoil the numbers. */
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

/** As the mark has it; its events are counted again from `base`, and what the client holds of them is not told again. */
export function restored(mark: SubscriptionMark, seen: Seen): Subscription {
  const { number, channel, auctionId, base, isComplete, isOver, told } = mark;
  const held = heldBehind(mark, seen);
  const rest = { id: idOf(number), number, channel, auctionId, isComplete, isOver };
  // Entries of before are read again from behind the last that the client holds, and not counted again.
  if (told !== undefined) {
    const seq = base + held;
    return { ...rest, seq, base: seq, skip: seq, told: told + held };
  }
  return { ...rest, seq: base, base, skip: base + held, told };
}

/** How many events behind `base` the client holds: those of the token, and those that it has seen since. */
export function heldBehind({ number, base, sent }: SubscriptionMark, seen: Seen): number {
  const said = (seen[idOf(number)] ?? 0) - base;
  return said > MOST_BEHIND_A_TOKEN ? sent : Math.max(sent, said);
}

/** What the client holds already counts as sent, also where it has not been counted again yet. */
export function markOf(subscription: Subscription, isInDelivery: boolean): SubscriptionMark {
  const { number, channel, auctionId, seq, skip, isComplete, isOver, told } = subscription;
  const base = isInDelivery && told === undefined ? subscription.base : seq;
  const sent = Math.max(seq, skip) - base;
  return { number, channel, auctionId, base, sent, isComplete, isOver, told };
}

/** Whether it is told what happens. */
export function isTold({ isComplete, isOver }: Pick<SubscriptionMark, 'isComplete' | 'isOver'>): boolean {
  return isComplete && !isOver;
}

/** Whether its client has seen more of it than has been counted here. */
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
