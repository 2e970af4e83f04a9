import type { AuctionEvent } from './events.js';

/** As owners make them: a UUID of version 8 that begins with the digit of one of the three shards. */
const ID = /^[0-2][0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whatever is given an id here gets one of the auction's own shard. Later events only name what has one. */
export function objectionToIds(event: AuctionEvent): string | undefined {
  const shard = event.auction_id.charAt(0);
  const foreign = idsGivenBy(event).find((id) => !ID.test(id) || !id.startsWith(shard));
  return foreign === undefined ? undefined : `${foreign} is no id of the auction's shard`;
}

function idsGivenBy(event: AuctionEvent): readonly string[] {
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
