import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at, CONTRACT } from '#libs/testing/auctions/builders.js';
import {
  cancels,
  closes,
  reports,
  revises,
  submits,
  voids,
  withdraws,
} from '#libs/testing/auctions/commands.js';
import { given, placed, type Past } from '#libs/testing/auctions/given.js';
import { CLOSES_AT, storyTerms } from '#libs/testing/auctions/story.js';
import { holdOf } from '../held.js';
import type { AuctionEventBody } from '../events.js';
import { evolve } from './evolve.js';
import { activeQuotes, bookOf, findQuote, type QuoteStatus } from '../state.js';

const open = given(anOpenAuction(), aQuote('mia'), aQuote('max', { price_atoms: 600_000 }));

function statusesOf(...history: readonly Past[]): (QuoteStatus | undefined)[] {
  const { state } = history.reduce<typeof open>((history, next) => history.and(next), open);
  return ['mia', 'max'].map((maker) => bookOf(state, maker)?.quotes.at(-1)?.status);
}

function event(body: AuctionEventBody) {
  return placed({ at: at(2_000), body }, 100, storyTerms().auction_id);
}

describe('an auction', () => {
  it('starts with AUCTION_OPENED and throws on any other first event', () => {
    const { state } = given(anOpenAuction());
    expect(state).toEqual({
      terms: storyTerms(),
      status: 'OPEN',
      held: { keys: expect.any(Array), amounts: expect.any(Array) },
      books: [],
      awards: [],
    });
    const ending = event({ type: 'AUCTION_CLOSED', data: {} });
    expect(() => evolve(undefined, ending)).toThrow(/begins with AUCTION_CLOSED/);
  });

  it('passes through its statuses', () => {
    const won = open.and(closes());
    const done = reports({ award_id: 'award-of-quote-of-mia', step: 'CONFIRMED', attempt: 1 });
    const closed = open.and({ at: CLOSES_AT, body: { type: 'AUCTION_CLOSED', data: {} } });
    expect(closed.state).toMatchObject({ status: 'CLOSED', closed_at: CLOSES_AT });
    expect(won.state).toMatchObject({
      status: 'AWARDED',
      closed_at: CLOSES_AT,
      execution_deadline: at(120_000),
      awards: [{ execution_status: 'PENDING', execution_events: 0 }, {}],
    });
    expect(won.and(done).state).toMatchObject({ status: 'EXECUTING' });
    expect(open.and(cancels('why')).state).toMatchObject({
      status: 'CANCELLED',
      completed_at: at(5_000),
      cancellation: { at: at(5_000), by: 'ORIGINATOR', reason: 'why' },
    });
    expect(open.and(voids({ by: 'SYSTEM' })).state).toMatchObject({ status: 'VOIDED' });
  });
});

describe('a quote', () => {
  it('has the terms of its last event and the priority of its last improving change', () => {
    const { state } = given(anOpenAuction(), aQuote('mia'), revises('mia', { quantity_atoms: 3 * CONTRACT }));
    expect(findQuote(state, 'quote-of-mia')).toMatchObject({
      status: 'ACTIVE',
      revision: 2,
      quantity_atoms: 3 * CONTRACT,
      submitted_at: at(1_000),
      updated_at: at(5_000),
      priority: 6,
    });
    const dearer = given(anOpenAuction(), aQuote('mia'), revises('mia', { price_atoms: 501_000 }));
    expect(findQuote(dearer.state, 'quote-of-mia')?.priority).toBe(9);
  });

  it('loses its expiry and note when the event has none', () => {
    const noted = given(anOpenAuction(), aQuote('mia', { client_reference: 'n', expires_at: at(9_000) }));
    const before = findQuote(noted.state, 'quote-of-mia')!;
    const { quote_id, maker, revision, price_atoms, quantity_atoms, min_quantity_atoms, submitted_at } =
      before;
    const hold = holdOf(before);
    const terms = {
      quote_id,
      maker,
      revision,
      price_atoms,
      quantity_atoms,
      min_quantity_atoms,
      submitted_at,
    };
    const body: AuctionEventBody = {
      type: 'QUOTE_REVISED',
      data: { quote: { ...terms, hold }, keeps_priority: true },
    };
    const quote = findQuote(evolve(noted.state, event(body)), 'quote-of-mia');
    expect(quote).not.toHaveProperty('client_reference');
    expect(quote).not.toHaveProperty('expires_at');
  });

  it('ends when its auction ends', () => {
    expect(statusesOf()).toEqual(['ACTIVE', 'ACTIVE']);
    expect(statusesOf(withdraws('mia', { by: 'PROTECTION' }))).toEqual(['WITHDRAWN', 'ACTIVE']);
    expect(statusesOf(withdraws('mia'), cancels())).toEqual(['WITHDRAWN', 'RELEASED']);
    expect(statusesOf(voids({ by: 'SYSTEM' }))).toEqual(['RELEASED', 'RELEASED']);
    expect(statusesOf(closes())).toEqual(['AWARDED', 'AWARDED']);
  });

  it('has its result after the decision: award, rank among the quotes that counted, or neither', () => {
    const { state } = given(
      anOpenAuction({ quantity_atoms: 7 * CONTRACT, limit_price_atoms: 600_000 }),
      aQuote('mia', { price_atoms: 601_000 }),
      aQuote('max', { price_atoms: 600_000 }),
      aQuote('moe'),
      aQuote('may', { price_atoms: 600_000 }),
      closes(),
    );
    const results = ['moe', 'max', 'may', 'mia'].map((maker) => {
      const quote = bookOf(state, maker)?.quotes.at(-1);
      return [quote?.status, quote?.result];
    });
    expect(results).toEqual([
      ['AWARDED', { awarded_quantity_atoms: 4 * CONTRACT, award_id: 'award-of-quote-of-moe', rank: 1 }],
      [
        'PARTIALLY_AWARDED',
        { awarded_quantity_atoms: 3 * CONTRACT, award_id: 'award-of-quote-of-max', rank: 2 },
      ],
      ['NOT_AWARDED', { awarded_quantity_atoms: 0, rank: 3 }],
      ['NOT_AWARDED', { awarded_quantity_atoms: 0 }],
    ]);
  });

  it('is EXPIRED when its maker submits again after an expiry that was not journaled', () => {
    const { state } = given(anOpenAuction(), aQuote('mia', { expires_at: at(3_000) }), submits('mia'));
    expect(bookOf(state, 'mia')?.quotes).toMatchObject([
      { quote_id: 'quote-of-mia', status: 'EXPIRED', updated_at: at(3_000) },
      { quote_id: 'new-quote-of-mia', status: 'ACTIVE' },
    ]);
    expect(activeQuotes(state)).toHaveLength(1);
  });
});

describe("a maker's part of the auction", () => {
  const rejectedOnce: AuctionEventBody = {
    type: 'QUOTE_REJECTED',
    data: { maker: 'moe', operation: 'SUBMIT', error: 'INVALID_TERMS', message: 'No.' },
  };

  it('counts every event of the maker, rejections included', () => {
    const { state } = given(anOpenAuction(), aQuote('mia'), revises('mia', {}), withdraws('mia'));
    expect(bookOf(state, 'mia')?.quote_events).toBe(3);
    expect(bookOf(evolve(state, event(rejectedOnce)), 'moe')).toEqual({
      maker: 'moe',
      quotes: [],
      quote_events: 1,
    });
  });

  it('is the only part that a quote of the maker copies', () => {
    const after = open.and(revises('mia', { price_atoms: 501_000 }));
    expect(bookOf(after.state, 'max')).toBe(bookOf(open.state, 'max'));
    expect(after.state.terms).toBe(open.state.terms);
    expect(after.state.held).toBe(open.state.held);
    expect(findQuote(open.state, 'quote-of-mia')?.revision).toBe(1);
  });

  it('is not changed when a cancel of the originator is refused', () => {
    const body: AuctionEventBody = { type: 'CANCEL_REJECTED', data: { error: 'E', message: 'No.' } };
    expect(evolve(open.state, event(body))).toBe(open.state);
  });
});

it('a report of an unknown award changes nothing', () => {
  const won = open.and(closes()).state;
  const body: AuctionEventBody = { type: 'EXECUTION_CONFIRMED', data: { award_id: 'none', attempt: 1 } };
  expect(evolve(won, event(body))).toBe(won);
});
