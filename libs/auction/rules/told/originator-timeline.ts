import { awardView } from './award-view.js';
import type { AuctionEvent } from '../events.js';
import type { AuctionState } from '../state.js';
import { executionEntry, openingView, type TimelineEntry } from './timeline-entry.js';
import type { Viewer } from './viewer.js';

/** The originator's timeline. Before the award it shows no quote, not even that one exists. */
export function originatorEntries(event: AuctionEvent, after: AuctionState, viewer: Viewer): TimelineEntry[] {
  const occurred_at = event.at;
  switch (event.type) {
    case 'AUCTION_OPENED':
      return [
        { kind: event.type, occurred_at, actor: 'SELF', data: { auction: openingView(after, viewer) } },
      ];
    case 'AUCTION_CANCELLED': {
      const { by, reason } = event.data;
      const data = reason === undefined ? {} : { reason };
      return [{ kind: event.type, occurred_at, actor: by === 'ORIGINATOR' ? 'SELF' : by, data }];
    }
    case 'AUCTION_VOIDED': {
      const { by } = event.data;
      return [{ kind: event.type, occurred_at, actor: by === 'ORIGINATOR' ? 'SELF' : by, data: {} }];
    }
    case 'AUCTION_CLOSED':
      return [{ kind: event.type, occurred_at, actor: 'SYSTEM', data: {} }];
    case 'AUCTION_AWARDED': {
      const award = awardView(after);
      return award === undefined ? [] : [{ kind: event.type, occurred_at, actor: 'SYSTEM', data: { award } }];
    }
    case 'AUCTION_NOT_AWARDED':
      return [{ kind: event.type, occurred_at, actor: 'SYSTEM', data: { reason: event.data.reason } }];
    case 'EXECUTION_SUBMITTED':
    case 'EXECUTION_RETRYING':
    case 'EXECUTION_CONFIRMED':
    case 'EXECUTION_FAILED':
      return [executionEntry(event.type, event.at, event.data)];
    default:
      return [];
  }
}
