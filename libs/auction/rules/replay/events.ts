import type { AuditEvent } from '../audit/audit.js';
import type { AuctionEvent, Placed } from '../events.js';
import { decodeEvent, isOfAuction } from '../event-versions.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The event of a bundle's record, with pseudonyms for accounts. It is decoded like an event of the journal: earlier
 * versions are converted, and unreadable events throw.
 */
export function restored(auctionId: string, record: AuditEvent): Placed<AuctionEvent> {
  const { position, type, version, occurred_at: at, data } = record;
  const text = JSON.stringify({ type, version, at, auction_id: auctionId, data: originalData(type, data) });
  const event = decodeEvent(text);
  if (!isOfAuction(event)) throw new Error(`${event.type} belongs to no auction`);
  return { position, event };
}

function originalData(type: AuditEvent['type'], data: Fields): unknown {
  switch (type) {
    case 'AUCTION_OPENED': {
      const terms = fields(data.terms);
      const audience = list(terms.audience).map(party);
      return { ...data, terms: { ...terms, originator: party(terms.originator), audience } };
    }
    case 'QUOTE_SUBMITTED':
    case 'QUOTE_REVISED':
      return { ...data, quote: withMaker(data.quote) };
    case 'AUCTION_AWARDED':
      return { ...data, awards: list(data.awards).map(withMaker) };
    case 'QUOTE_WITHDRAWN':
    case 'QUOTE_EXPIRED':
    case 'QUOTE_REJECTED':
      return withMaker(data);
    default:
      return data;
  }
}

/** Audits hold no display names and aliases, and the rules do not use them. */
function party(pseudonym: unknown): Fields {
  return { account_id: pseudonym, display_name: '', alias: '' };
}

function withMaker(value: unknown): Fields {
  const { market_maker: maker, ...rest } = fields(value);
  return { ...rest, maker };
}

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object');
  return value as Fields;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('not a list');
  return value;
}
