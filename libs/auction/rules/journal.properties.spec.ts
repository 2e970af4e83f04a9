import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inAnySession, play } from '#libs/testing/auctions/play.js';
import { anySession } from '#libs/testing/auctions/sessions.js';
import { decideClose } from './decide/close.js';
import { decideCompletion } from './completion.js';
import type { AuctionEvent, AuctionEventBody } from './events.js';
import { evolve } from './evolve/evolve.js';
import { holdsOf } from './holds-of.js';
import { activeQuotes, findQuote, isLive, type AuctionState } from './state.js';
import { decodeEvent, encodeEvent } from './event-versions.js';

describe('a journal', () => {
  it('gives the same auction when it is replayed, at every prefix', () => {
    inAnySession(({ events, states }) => {
      let state: AuctionState | undefined;
      events.forEach(({ position, event }, index) => {
        const read = decodeEvent(encodeEvent(event)) as AuctionEvent;
        state = evolve(state, { position, event: read });
        expect(state).toEqual(states[index]);
      });
    });
  });

  it('never changes an earlier state of an auction in place', () => {
    inAnySession(({ events }) => {
      let state: AuctionState | undefined;
      for (const placed of events) {
        const before = JSON.stringify(state);
        const after = evolve(state && deepFrozen(state), placed);
        expect(JSON.stringify(state)).toBe(before);
        state = after;
      }
    });
  });

  it('that ends at any event lets the auction be completed', () => {
    inAnySession(({ events, states }) => {
      states.forEach((state, index) => {
        const end = completedAuction(state, events[index]!.position);
        expect(isLive(end.status)).toBe(false);
        expect(end.completed_at).toBeDefined();
        expect(holdsOf(end).size).toBe(0);
      });
    });
  });

  it('has one close, one decision and one completion, and the completion is last', () => {
    inAnySession((played) => {
      const kinds = played.events.map(({ event }) => event.type);
      const count = (...types: string[]) => kinds.filter((kind) => types.includes(kind)).length;
      expect(count('AUCTION_OPENED')).toBe(1);
      expect(count('AUCTION_CLOSED')).toBeLessThanOrEqual(1);
      expect(count('AUCTION_AWARDED', 'AUCTION_NOT_AWARDED')).toBe(count('AUCTION_CLOSED'));
      expect(count('AUCTION_CANCELLED', 'AUCTION_VOIDED', 'AUCTION_CLOSED')).toBe(1);
      expect(count('AUCTION_COMPLETED')).toBe(isLive(played.end.status) ? 0 : 1);
      const completion = kinds.indexOf('AUCTION_COMPLETED');
      expect(completion < 0 || completion === kinds.length - 1).toBe(true);
    });
  });
});

/** As an owner does after recovery when every award fails. */
function completedAuction(start: AuctionState, position: number): AuctionState {
  let state = start;
  const append = (bodies: readonly { at: string; body: AuctionEventBody }[]) => {
    for (const { at, body } of bodies) {
      const event = { ...body, version: 1, at, auction_id: state.terms.auction_id };
      state = evolve(state, { position: position + 1, event });
    }
  };
  append(decideCompletion(state));
  append(decideClose(state, { awardId: (quoteId) => `award-of-${quoteId}` }));
  for (const { award_id, execution_status } of state.awards) {
    if (execution_status === 'CONFIRMED' || execution_status === 'FAILED') continue;
    const at = state.terms.closes_at;
    append([{ at, body: { type: 'EXECUTION_FAILED', data: { award_id, attempt: 9 } } }]);
  }
  append(decideCompletion(state));
  return state;
}

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFrozen);
  }
  return value;
}

describe('a maker', () => {
  it('has at most one active quote, its latest', () => {
    inAnySession(({ states }) => {
      for (const { books } of states) {
        for (const { quotes } of books) {
          expect(quotes.slice(0, -1).some((quote) => quote.status === 'ACTIVE')).toBe(false);
        }
      }
    });
  });

  it('has no active quote after the close', () => {
    inAnySession(({ end }) => {
      expect(activeQuotes(end)).toEqual([]);
    });
  });

  it('keeps its priority unless it changes its own quote for the better', () => {
    inAnySession(({ events, states }) => {
      states.slice(1).forEach((state, index) => {
        const before = states[index]!;
        for (const quote of activeQuotes(state)) {
          const was = findQuote(before, quote.quote_id);
          const better = was?.price_atoms !== quote.price_atoms || quote.quantity_atoms > was.quantity_atoms;
          expect(quote.priority).toBe(better ? events[index + 1]!.position : was.priority);
        }
      });
    });
  });
});

it('time never goes back within a decision, and the close and its decision bear closes_at', () => {
  inAnySession(({ events, end }) => {
    for (const { event } of events) {
      const { type, at } = event;
      const atTheClose = ['AUCTION_CLOSED', 'AUCTION_AWARDED', 'AUCTION_NOT_AWARDED'].includes(type);
      if (atTheClose) expect(at).toBe(end.terms.closes_at);
      if (type.startsWith('QUOTE_') && type !== 'QUOTE_REJECTED' && type !== 'QUOTE_EXPIRED') {
        expect(at < end.terms.closes_at).toBe(true);
      }
      if (type.startsWith('EXECUTION_')) expect(at >= end.terms.closes_at).toBe(true);
    }
  });
});

it('the random sessions reach every status, refusal and kind of event', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(anySession, (session) => {
      const { events, end, refusals } = play(session);
      for (const { event } of events) seen.add(event.type);
      for (const { error } of refusals) seen.add(error);
      seen.add(end.status);
      for (const { quotes } of end.books) for (const { status } of quotes) seen.add(status);
    }),
    { numRuns: 800, seed: 1 },
  );
  for (const expected of [
    ...['QUOTE_REVISED', 'QUOTE_WITHDRAWN', 'QUOTE_EXPIRED', 'QUOTE_REJECTED', 'CANCEL_REJECTED'],
    ...['CANCELLED', 'VOIDED', 'NO_AWARD', 'SETTLED', 'PARTIALLY_SETTLED', 'EXECUTION_FAILED', 'EXECUTING'],
    ...['PARTIALLY_AWARDED', 'NOT_AWARDED', 'RELEASED', 'FAILED', 'EXECUTION_RETRYING'],
    ...['AUCTION_NOT_OPEN', 'quote_already_active', 'quote_revision_conflict', 'REVISION_NOT_IMPROVING'],
    ...['QUOTE_NOT_WITHDRAWABLE', 'QUOTE_NOT_REVISABLE', 'UNAUTHORIZED_SIZE', 'QUANTITY_BELOW_MINIMUM'],
  ]) {
    expect([...seen]).toContain(expected);
  }
});
