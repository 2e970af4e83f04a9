import type { AuctionEvent, WithdrawnBy } from '../events.js';
import { lossOf, quoteView } from './quote-view.js';
import { findQuote, type AuctionState } from '../state.js';
import { executionEntry, openingView, type Actor, type TimelineEntry } from './timeline-entry.js';
import { awardOf, judgedQuote, type Viewer } from './viewer.js';

const WITHDRAWN_BY: Readonly<Record<WithdrawnBy, Actor>> = {
  MARKET_MAKER: 'SELF',
  DISCONNECT: 'SYSTEM',
  PROTECTION: 'SYSTEM',
  OPERATOR: 'OPERATOR',
};

type QuoteEvent = Extract<
  AuctionEvent,
  { type: 'QUOTE_SUBMITTED' | 'QUOTE_REVISED' | 'QUOTE_WITHDRAWN' | 'QUOTE_EXPIRED' }
>;

/** An invited maker's timeline: the auction's own events, and only this maker's quotes and award. */
export function makerEntries(event: AuctionEvent, after: AuctionState, viewer: Viewer): TimelineEntry[] {
  const occurred_at = event.at;
  const maker = viewer.account_id;
  switch (event.type) {
    case 'AUCTION_OPENED':
      return [
        { kind: event.type, occurred_at, actor: 'ORIGINATOR', data: { auction: openingView(after, viewer) } },
        { kind: 'INVITATION_RECEIVED', occurred_at, actor: 'ORIGINATOR', data: {} },
      ];
    case 'AUCTION_CANCELLED':
    case 'AUCTION_VOIDED':
      return [{ kind: event.type, occurred_at, actor: event.data.by, data: {} }];
    case 'AUCTION_CLOSED':
      return [{ kind: event.type, occurred_at, actor: 'SYSTEM', data: {} }];
    case 'AUCTION_AWARDED':
    case 'AUCTION_NOT_AWARDED':
      return resultEntries(event, after, maker);
    case 'EXECUTION_SUBMITTED':
    case 'EXECUTION_RETRYING':
    case 'EXECUTION_CONFIRMED':
    case 'EXECUTION_FAILED':
      if (awardOf(after, maker)?.award_id !== event.data.award_id) return [];
      return [executionEntry(event.type, event.at, event.data)];
    default:
      return quoteEntries(event, after, maker);
  }
}

function quoteEntries(event: AuctionEvent, after: AuctionState, maker: string): TimelineEntry[] {
  switch (event.type) {
    case 'QUOTE_SUBMITTED':
    case 'QUOTE_REVISED':
    case 'QUOTE_WITHDRAWN':
    case 'QUOTE_EXPIRED':
      return ownQuoteEntries(event, after, maker);
    case 'QUOTE_REJECTED': {
      if (event.data.maker !== maker) return [];
      const { operation, error, message, quote_id } = event.data;
      const data = { operation, error, message, ...(quote_id !== undefined && { quote_id }) };
      return [{ kind: event.type, occurred_at: event.at, actor: 'SELF', data }];
    }
    default:
      return [];
  }
}

function ownQuoteEntries(event: QuoteEvent, after: AuctionState, maker: string): TimelineEntry[] {
  const source = 'quote' in event.data ? event.data.quote : event.data;
  const quote = source.maker === maker ? findQuote(after, source.quote_id) : undefined;
  if (quote === undefined) return [];
  const kind = event.type === 'QUOTE_SUBMITTED' ? 'QUOTE_ACCEPTED' : event.type;
  return [{ kind, occurred_at: event.at, actor: actorOf(event), data: { quote: quoteView(after, quote) } }];
}

function actorOf(event: QuoteEvent): Actor {
  if (event.type === 'QUOTE_EXPIRED') return 'SYSTEM';
  return event.type === 'QUOTE_WITHDRAWN' ? WITHDRAWN_BY[event.data.by] : 'SELF';
}

/** A maker without a quote in the decision gets no result entry: for it the auction is just over. */
function resultEntries(event: AuctionEvent, after: AuctionState, maker: string): TimelineEntry[] {
  const occurred_at = event.at;
  const award = awardOf(after, maker);
  if (award !== undefined) {
    const { quote_id, award_id, price_atoms, quantity_atoms } = award;
    const data = { quote_id, award_id, price_atoms, quantity_atoms };
    return [{ kind: 'QUOTE_AWARDED', occurred_at, actor: 'SYSTEM', data }];
  }
  const quote = judgedQuote(after, maker);
  if (quote === undefined) return [];
  const data = { quote_id: quote.quote_id, ...lossOf(after, quote) };
  return [{ kind: 'QUOTE_NOT_AWARDED', occurred_at, actor: 'SYSTEM', data }];
}
