import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { play, type Played } from '#libs/testing/auction-play.js';
import { anySession } from '#libs/testing/auction-sessions.js';
import { decideClose } from './close.js';
import { decideCompletion } from './completion.js';
import type { AuctionEvent, AuctionEventBody, AwardTerms, Placed } from './events.js';
import { evolve } from './evolve.js';
import { holdsOf } from './holds-of.js';
import { activeQuotes, findQuote, isLive, type AuctionState } from './state.js';
import type { Hold } from './terms.js';
import { decodeEvent, encodeEvent } from './upcasters.js';

const RUNS = { numRuns: 400 };

function always(holds: (played: Played) => void): void {
  fc.assert(
    fc.property(anySession, (session) => holds(play(session))),
    RUNS,
  );
}

function ofType<Type extends AuctionEventBody['type']>({ events }: Played, type: Type) {
  return events.flatMap(({ event }) =>
    event.type === type ? [event as Extract<AuctionEvent, { type: Type }>] : [],
  );
}

type Sums = ReadonlyMap<string, bigint>;

function sumsOf(holds: readonly Hold[]): Sums {
  const sums = new Map<string, bigint>();
  for (const { venue, resource, asset, amount } of holds) {
    const name = `${venue}/${resource}/${asset}`;
    sums.set(name, (sums.get(name) ?? 0n) + BigInt(amount));
  }
  return sums;
}

function expectWithin(part: readonly Hold[], whole: readonly Hold[]): void {
  const available = sumsOf(whole);
  const over = [...sumsOf(part)].filter(([name, amount]) => amount > (available.get(name) ?? 0n));
  expect(over).toEqual([]);
}

function flat(held: ReadonlyMap<string, readonly Hold[]>): [string, [string, bigint][]][] {
  return [...held]
    .map(([account, holds]): [string, [string, bigint][]] => [account, [...sumsOf(holds)].sort()])
    .sort();
}

describe('a journal', () => {
  it('gives the same auction when it is read again, from any of its beginnings', () => {
    always(({ events, states }) => {
      let state: AuctionState | undefined;
      events.forEach(({ position, event }, index) => {
        const read = decodeEvent(encodeEvent(event)) as AuctionEvent;
        state = evolve(state, { position, event: read });
        expect(state).toEqual(states[index]);
      });
    });
  });

  it('changes no auction that somebody still holds', () => {
    always(({ events }) => {
      let state: AuctionState | undefined;
      for (const placed of events) {
        const before = JSON.stringify(state);
        const after = evolve(state && deepFrozen(state), placed);
        expect(JSON.stringify(state)).toBe(before);
        state = after;
      }
    });
  });

  it('that ends anywhere lets the auction go on to its end', () => {
    always(({ events, states }) => {
      states.forEach((state, index) => {
        const end = broughtToItsEnd(state, events[index]!.position);
        expect(isLive(end.status)).toBe(false);
        expect(end.completed_at).toBeDefined();
        expect(holdsOf(end).size).toBe(0);
      });
    });
  });

  it('has one close, one decision and one completion, which is the last of its events', () => {
    always((played) => {
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

/** As an owner does that recovers and finds every award failed. */
function broughtToItsEnd(start: AuctionState, position: number): AuctionState {
  let state = start;
  const takes = (bodies: readonly { at: string; body: AuctionEventBody }[]) => {
    for (const { at, body } of bodies) {
      const event = { ...body, version: 1, at, auction_id: state.terms.auction_id };
      state = evolve(state, { position: position + 1, event } as Placed<AuctionEvent>);
    }
  };
  takes(decideCompletion(state));
  takes(decideClose(state, { awardId: (quoteId) => `award-of-${quoteId}` }));
  for (const { award_id, execution_status } of state.awards) {
    if (execution_status === 'CONFIRMED' || execution_status === 'FAILED') continue;
    const at = state.terms.closes_at;
    takes([{ at, body: { type: 'EXECUTION_FAILED', data: { award_id, attempt: 9 } } }]);
  }
  takes(decideCompletion(state));
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
    always(({ states }) => {
      for (const { books } of states) {
        for (const { quotes } of books) {
          expect(quotes.slice(0, -1).some((quote) => quote.status === 'ACTIVE')).toBe(false);
        }
      }
    });
  });

  it('has after the close no quote that still stands', () => {
    always(({ end }) => {
      expect(activeQuotes(end)).toEqual([]);
    });
  });

  it('keeps its priority unless it is the one that moves', () => {
    always(({ events, states }) => {
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

describe('an award', () => {
  const awarded = (check: (awards: readonly AwardTerms[], before: AuctionState, played: Played) => void) =>
    always((played) => {
      const index = played.events.findIndex(({ event }) => event.type === 'AUCTION_AWARDED');
      if (index < 0) return;
      const awards = ofType(played, 'AUCTION_AWARDED').flatMap(({ data }) => data.awards);
      check(awards, played.states[index - 1]!, played);
    });

  it('exceeds neither the auction nor the quote, and is never less than either wanted', () => {
    awarded((awards, { terms, ...state }) => {
      const sum = awards.reduce((total, award) => total + award.quantity_atoms, 0);
      expect(sum).toBeLessThanOrEqual(terms.quantity_atoms);
      expect(sum).toBeGreaterThanOrEqual(terms.min_fill_quantity_atoms);
      for (const award of awards) {
        const quote = findQuote({ terms, ...state }, award.quote_id);
        expect(award.quantity_atoms).toBeLessThanOrEqual(quote!.quantity_atoms);
        expect(award.quantity_atoms).toBeGreaterThanOrEqual(quote!.min_quantity_atoms);
        expect(award.quantity_atoms % terms.grid.quantity_step_atoms).toBe(0);
      }
    });
  });

  it("is at the winner's own price, within the reserve", () => {
    awarded((awards, state) => {
      const { side, limit_price_atoms: limit } = state.terms;
      for (const { quote_id, maker, price_atoms: price } of awards) {
        expect(findQuote(state, quote_id)).toMatchObject({ maker, price_atoms: price });
        if (limit !== undefined) expect(side === 'BUY' ? price <= limit : price >= limit).toBe(true);
      }
    });
  });

  it('never needs more of anything than its maker and all of them than the originator had set aside', () => {
    awarded((awards, state) => {
      for (const award of awards) {
        expectWithin(award.maker_hold, findQuote(state, award.quote_id)!.hold);
      }
      expectWithin(
        awards.flatMap((award) => award.originator_hold),
        state.hold,
      );
    });
  });

  it('is covered in full on every route: tokens, and collateral for what they leave open', () => {
    awarded((awards, { terms }) => {
      for (const { price_atoms: price, quantity_atoms: quantity, ...award } of awards) {
        for (const [side, hold] of [
          [terms.side, award.originator_hold],
          [terms.side === 'BUY' ? 'SELL' : 'BUY', award.maker_hold],
        ] as const) {
          const held = sumsOf(hold);
          for (const { venue, contract_id, outcome } of terms.routes) {
            const tokens = held.get(`${venue}/OUTCOME_TOKEN/${contract_id}/${outcome}`) ?? 0n;
            const unit = BigInt(side === 'BUY' ? price : 1_000_000 - price);
            const cost = (BigInt(quantity) - tokens) * unit;
            const collateral = held.get(`${venue}/COLLATERAL/`) ?? 0n;
            expect(collateral * 1_000_000n).toBeGreaterThanOrEqual(cost);
            expect(held.get(`${venue}/VENUE_POSITION_LIMIT/`)).toBe(BigInt(quantity));
          }
        }
      }
    });
  });
});

describe('what is set aside', () => {
  /** A second book of account, kept by the events alone. */
  function keptBy(events: readonly Placed<AuctionEvent>[]): Map<string, Hold[]> {
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
    for (const { account, hold } of parts.values()) held.set(account, [...(held.get(account) ?? []), ...hold]);
    return held;
  }

  it('is after every event what the events add up to', () => {
    always(({ events, states }) => {
      states.forEach((state, index) => {
        expect(flat(holdsOf(state))).toEqual(flat(keptBy(events.slice(0, index + 1))));
      });
    });
  });

  it('is nothing once the auction is over', () => {
    always(({ end }) => {
      if (!isLive(end.status)) expect(holdsOf(end).size).toBe(0);
    });
  });
});

it('time goes forward within a decision, and what happens at the close is of that instant', () => {
  always(({ events, end }) => {
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

it('the sessions are worth playing: everything that can happen happens among them', () => {
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
