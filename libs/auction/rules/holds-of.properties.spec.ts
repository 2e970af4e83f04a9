import { describe, expect, it } from '@jest/globals';
import { sumsOf } from '#libs/testing/auctions/holds.js';
import { inAnySession } from '#libs/testing/auctions/play.js';
import type { AuctionEvent, Placed } from './events.js';
import { holdsOf } from './holds-of.js';
import { isLive } from './state.js';
import type { Hold } from './terms.js';

function flat(held: ReadonlyMap<string, readonly Hold[]>): [string, [string, bigint][]][] {
  return [...held]
    .map(([account, holds]): [string, [string, bigint][]] => [account, [...sumsOf(holds)].sort()])
    .sort();
}

describe('the holds of an auction', () => {
  /** The expected holds, computed from the events alone. */
  function expectedFrom(events: readonly Placed<AuctionEvent>[]): Map<string, Hold[]> {
    const parts = new Map<string, { account: string; hold: readonly Hold[] }>();
    let originator = '';
    for (const { event } of events) {
      switch (event.type) {
        case 'AUCTION_OPENED':
          originator = event.data.terms.originator.account_id;
          parts.set('auction', { account: originator, hold: event.data.hold });
          break;
        case 'QUOTE_SUBMITTED':
        case 'QUOTE_REVISED': {
          const { maker, hold } = event.data.quote;
          parts.set(`quote of ${maker}`, { account: maker, hold });
          break;
        }
        case 'QUOTE_WITHDRAWN':
        case 'QUOTE_EXPIRED':
          parts.delete(`quote of ${event.data.maker}`);
          break;
        case 'AUCTION_CANCELLED':
        case 'AUCTION_VOIDED':
        case 'AUCTION_NOT_AWARDED':
          parts.clear();
          break;
        case 'AUCTION_AWARDED':
          parts.clear();
          for (const { award_id, maker, maker_hold, originator_hold } of event.data.awards) {
            parts.set(`${award_id} maker`, { account: maker, hold: maker_hold });
            parts.set(`${award_id} originator`, { account: originator, hold: originator_hold });
          }
          break;
        case 'EXECUTION_CONFIRMED':
        case 'EXECUTION_FAILED':
          parts.delete(`${event.data.award_id} maker`);
          parts.delete(`${event.data.award_id} originator`);
          break;
        default:
      }
    }
    const held = new Map<string, Hold[]>();
    for (const { account, hold } of parts.values())
      held.set(account, [...(held.get(account) ?? []), ...hold]);
    return held;
  }

  it('equal the sum of the events after every event', () => {
    inAnySession(({ events, states }) => {
      states.forEach((state, index) => {
        expect(flat(holdsOf(state))).toEqual(flat(expectedFrom(events.slice(0, index + 1))));
      });
    });
  });

  it('are empty once the auction is over', () => {
    inAnySession(({ end }) => {
      if (!isLive(end.status)) expect(holdsOf(end).size).toBe(0);
    });
  });
});
