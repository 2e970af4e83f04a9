import type { AuctionEvent } from '../events.js';

/** The form of ids that owners make: a UUID of version 8 whose first digit is one of the three shards. */
const ID = /^[0-2][0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * A new id must belong to the auction's own shard and must be unused in the auction. `given` holds the ids of
 * earlier events. Later events only refer to existing ids.
 */
export function objectionToIds(event: AuctionEvent, used: ReadonlySet<string>): string | undefined {
  const shard = event.auction_id.charAt(0);
  const ids = idsGivenBy(event);
  const foreign = ids.find((id) => !ID.test(id) || !id.startsWith(shard));
  if (foreign !== undefined) return `${foreign} is no id of the auction's shard`;
  const repeated = ids.find((id, index) => used.has(id) || ids.indexOf(id) < index);
  return repeated === undefined ? undefined : `${repeated} is already used in the auction`;
}

export function idsGivenBy(event: AuctionEvent): readonly string[] {
  switch (event.type) {
    case 'AUCTION_OPENED':
      return [event.auction_id];
    case 'QUOTE_SUBMITTED':
      return [event.data.quote.quote_id];
    case 'AUCTION_AWARDED':
      return event.data.awards.map((award) => award.award_id);
    default:
      return [];
  }
}
