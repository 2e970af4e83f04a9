import type { AuctionEvent } from '../events.js';

/** As owners make them: a UUID of version 8 that begins with the digit of one of the three shards. */
const ID = /^[0-2][0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Whatever is given an id here gets one of the auction's own shard, which nothing else of the auction has: `given` are those of the
 * events before. Later events only name what has one.
 */
export function objectionToIds(event: AuctionEvent, given: ReadonlySet<string>): string | undefined {
  const shard = event.auction_id.charAt(0);
  const ids = idsGivenBy(event);
  const foreign = ids.find((id) => !ID.test(id) || !id.startsWith(shard));
  if (foreign !== undefined) return `${foreign} is no id of the auction's shard`;
  const known = ids.find((id, index) => given.has(id) || ids.indexOf(id) < index);
  return known === undefined ? undefined : `${known} is the id of something else already`;
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
