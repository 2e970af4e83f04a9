import type { Release } from '../admission/reservation-desk.js';
import type { AuctionEventBody } from '../rules/events.js';
import { holdOf } from '../rules/held.js';
import { activeQuotes, type AuctionState, findQuote } from '../rules/state.js';
import type { Hold } from '../rules/terms.js';
import { isSameResource } from '../admission/risk/resource-key.js';

/** The reservations that an event releases, given the state before it. They are released only after the event is durable. */
export function releasesOf(before: AuctionState, body: AuctionEventBody): Release[] {
  switch (body.type) {
    case 'QUOTE_WITHDRAWN':
    case 'QUOTE_EXPIRED':
      return ofQuote(before, body.data.quote_id);
    case 'QUOTE_REVISED':
      return ofRevision(before, body.data.quote.quote_id, body.data.quote.hold);
    case 'AUCTION_CANCELLED':
    case 'AUCTION_VOIDED':
    case 'AUCTION_NOT_AWARDED':
      return ofEveryone(before);
    case 'AUCTION_AWARDED':
      return beyondAwards(before, body.data.awards);
    case 'EXECUTION_CONFIRMED':
    case 'EXECUTION_FAILED':
      return ofAward(before, body.data.award_id);
    default:
      return [];
  }
}

function ofQuote(before: AuctionState, quoteId: string): Release[] {
  const quote = findQuote(before, quoteId);
  return quote === undefined ? [] : [{ account: quote.maker, hold: holdOf(quote) }];
}

function ofRevision(before: AuctionState, quoteId: string, hold: readonly Hold[]): Release[] {
  const quote = findQuote(before, quoteId);
  return quote === undefined ? [] : releaseOf(quote.maker, beyond(holdOf(quote), hold));
}

function ofEveryone(before: AuctionState): Release[] {
  return [
    { account: before.terms.originator.account_id, hold: holdOf(before) },
    ...activeQuotes(before).map((quote) => ({ account: quote.maker, hold: holdOf(quote) })),
  ];
}

type AwardedBody = Extract<AuctionEventBody, { type: 'AUCTION_AWARDED' }>;

function beyondAwards(before: AuctionState, awards: AwardedBody['data']['awards']): Release[] {
  const kept = awards.flatMap((award) => award.originator_hold);
  return [
    ...releaseOf(before.terms.originator.account_id, beyond(holdOf(before), kept)),
    ...activeQuotes(before).flatMap((quote) => {
      const award = awards.find((candidate) => candidate.quote_id === quote.quote_id);
      return releaseOf(quote.maker, beyond(holdOf(quote), award?.maker_hold ?? []));
    }),
  ];
}

function ofAward(before: AuctionState, awardId: string): Release[] {
  const award = before.awards.find((candidate) => candidate.award_id === awardId);
  if (award === undefined) return [];
  return [
    { account: award.maker, hold: award.maker_hold },
    { account: before.terms.originator.account_id, hold: award.originator_hold },
  ];
}

function releaseOf(account: string, hold: readonly Hold[]): Release[] {
  return hold.length === 0 ? [] : [{ account, hold }];
}

function nameOf(hold: Hold): string {
  return `${hold.venue}/${hold.resource}/${hold.asset}`;
}

/** The larger amount of both for each resource. It stays reserved until it is certain which of the two applies. */
export function larger(left: readonly Hold[], right: readonly Hold[]): Hold[] {
  const byName = new Map(left.map((hold) => [nameOf(hold), hold]));
  for (const hold of right) {
    const other = byName.get(nameOf(hold));
    if (other === undefined || other.amount < hold.amount) byName.set(nameOf(hold), hold);
  }
  return [...byName.values()];
}

/** `whole` minus `part` for each resource, never below zero. */
export function beyond(whole: readonly Hold[], part: readonly Hold[]): Hold[] {
  const left: Hold[] = [];
  for (const hold of whole) {
    let { amount } = hold;
    for (const other of part) if (isSameResource(hold, other)) amount -= other.amount;
    if (amount > 0) left.push({ ...hold, amount });
  }
  return left;
}
