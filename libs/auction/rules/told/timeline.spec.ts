import { describe, expect, it } from '@jest/globals';
import {
  AuctionStory,
  CLOSES_AT,
  makerNamed,
  OPENED_AT,
  ORIGINATOR,
  storyTerms,
} from '#libs/testing/auctions/story.js';
import type { NumberedEntry } from './timeline-entry.js';
import { timeline } from './timeline.js';
import { auctionView } from './view.js';
import type { Viewer } from './viewer.js';

const MIA = makerNamed('mia');
const MAX = makerNamed('max');
const MOE = makerNamed('moe');
const MAY = makerNamed('may');

function entriesOf(story: AuctionStory, viewer: Viewer): readonly NumberedEntry[] {
  return timeline(story.events, viewer).entries;
}

function kinds(story: AuctionStory, viewer: Viewer): string[] {
  return entriesOf(story, viewer).map(({ kind, actor }) => `${kind} ${actor}`);
}

function last(story: AuctionStory, viewer: Viewer): NumberedEntry | undefined {
  return entriesOf(story, viewer).at(-1);
}

function quoting(): AuctionStory {
  return new AuctionStory(storyTerms({ result_disclosure: 'WINNING_PRICE_AND_RANK' }))
    .submits('mia')
    .submits('max', { price_atoms: 600_000 })
    .submits('moe', { price_atoms: 520_000 });
}

const ORIGINATOR_OPENING = ['AUCTION_OPENED SELF'];
const MAKER_OPENING = ['AUCTION_OPENED ORIGINATOR', 'INVITATION_RECEIVED ORIGINATOR'];

describe('numbers and shape', () => {
  it('numbers entries from 1 without gaps, each with its five fields in order', () => {
    const entries = entriesOf(quoting().awardsNobody('MINIMUM_NOT_MET'), MIA);
    expect(entries.map((entry) => entry.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    for (const entry of entries) {
      expect(Object.keys(entry)).toEqual(['seq', 'kind', 'occurred_at', 'actor', 'data']);
    }
  });

  it('returns the state after the last event', () => {
    const story = quoting();
    expect(timeline(story.events, MIA).state).toEqual(story.state);
    expect(timeline([], MIA)).toEqual({ entries: [], state: undefined });
  });
});

describe('AUCTION_OPENED', () => {
  it.each([ORIGINATOR, MIA])('always holds the view of the opening, version 1: %j', (viewer) => {
    const view = auctionView(new AuctionStory().state, viewer);
    const opening = { seq: 1, kind: 'AUCTION_OPENED', occurred_at: OPENED_AT };
    const entry = entriesOf(new AuctionStory().submits('mia').awards({ mia: 1_000_000 }), viewer)[0];
    expect(entry).toMatchObject({ ...opening, data: { auction: { ...view, view_version: 1 } } });
    expect(Object.keys(entry?.data ?? {})).toEqual(['auction']);
  });

  it("is followed by the maker's invitation at the same instant", () => {
    expect(entriesOf(new AuctionStory(), MIA)[1]).toEqual({
      seq: 2,
      kind: 'INVITATION_RECEIVED',
      occurred_at: OPENED_AT,
      actor: 'ORIGINATOR',
      data: {},
    });
  });
});

describe('quotes', () => {
  const quoteStory = () =>
    new AuctionStory()
      .submits('mia')
      .isRefused('mia', 'REVISE', 'quote-of-mia')
      .revises('mia', { price_atoms: 490_000 })
      .withdraws('mia')
      .isRefused('mia', 'SUBMIT');

  it("have entries on their maker's timeline", () => {
    expect(kinds(quoteStory(), MIA)).toEqual([
      ...MAKER_OPENING,
      'QUOTE_ACCEPTED SELF',
      'QUOTE_REJECTED SELF',
      'QUOTE_REVISED SELF',
      'QUOTE_WITHDRAWN SELF',
      'QUOTE_REJECTED SELF',
    ]);
  });

  it('have no entries on other timelines', () => {
    expect(kinds(quoteStory(), ORIGINATOR)).toEqual(ORIGINATOR_OPENING);
    expect(kinds(quoteStory(), MAX)).toEqual(MAKER_OPENING);
  });

  it('show the quote view after each event', () => {
    const quotes = entriesOf(quoteStory(), MIA).map((entry) =>
      'quote' in entry.data ? entry.data.quote : undefined,
    );
    expect(quotes[2]).toMatchObject({ revision: 1, status: 'ACTIVE', price_atoms: 500_000 });
    expect(quotes[4]).toMatchObject({ revision: 2, status: 'ACTIVE', price_atoms: 490_000 });
    expect(quotes[5]).toMatchObject({ revision: 2, status: 'WITHDRAWN', withdrawn_by: 'MARKET_MAKER' });
  });

  it('show the refusal, with the quote that it was about', () => {
    const error = { error: 'INVALID_PRICE_TICK', message: 'The price is off the grid.' };
    expect(entriesOf(quoteStory(), MIA)[3]?.data).toEqual({
      operation: 'REVISE',
      ...error,
      quote_id: 'quote-of-mia',
    });
    expect(last(quoteStory(), MIA)?.data).toEqual({ operation: 'SUBMIT', ...error });
  });

  it.each([
    ['MARKET_MAKER', 'SELF'],
    ['DISCONNECT', 'SYSTEM'],
    ['PROTECTION', 'SYSTEM'],
    ['OPERATOR', 'OPERATOR'],
  ] as const)('withdrawn by %s has the actor %s', (by, actor) => {
    expect(last(quoting().withdraws('mia', by), MIA)).toMatchObject({ kind: 'QUOTE_WITHDRAWN', actor });
  });

  it('have an entry with their own expiry time', () => {
    const expires_at = '2026-11-20T12:00:30.000000000Z';
    expect(last(new AuctionStory().submits('mia', { expires_at }).expires('mia'), MIA)).toMatchObject({
      kind: 'QUOTE_EXPIRED',
      actor: 'SYSTEM',
      occurred_at: expires_at,
      data: { quote: { status: 'EXPIRED' } },
    });
  });
});

describe('cancelled and voided', () => {
  it.each([
    ['ORIGINATOR', 'AUCTION_CANCELLED', 'SELF', 'ORIGINATOR', { reason: 'why' }],
    ['OPERATOR', 'AUCTION_VOIDED', 'OPERATOR', 'OPERATOR', {}],
    ['SYSTEM', 'AUCTION_VOIDED', 'SYSTEM', 'SYSTEM', {}],
  ] as const)('by %s', (by, kind, toOriginator, toMaker, data) => {
    const story = quoting().cancelled(by, 'why');
    const completed = { kind: 'AUCTION_COMPLETED', actor: 'SYSTEM', data: { status: story.state.status } };
    const occurred_at = story.events.at(-1)?.event.at;
    const entries = entriesOf(story, ORIGINATOR);
    expect(entries.slice(1)).toMatchObject([
      { seq: 2, kind, actor: toOriginator, occurred_at, data },
      completed,
    ]);
    expect(entries[1]?.data).toEqual(data);
    const toMia = entriesOf(story, MIA);
    expect(toMia.slice(3)).toMatchObject([
      { seq: 4, kind, actor: toMaker, data: {} },
      { ...completed, occurred_at },
    ]);
    expect(toMia[3]?.data).toEqual({});
  });
});

describe('the close', () => {
  it('shows the originator the winners, as in the view of that moment', () => {
    const story = quoting().awards({ mia: 4_000_000, moe: 1_000_000 });
    expect(kinds(story, ORIGINATOR)).toEqual([
      ...ORIGINATOR_OPENING,
      'AUCTION_CLOSED SYSTEM',
      'AUCTION_AWARDED SYSTEM',
    ]);
    const view = auctionView(story.state, ORIGINATOR);
    expect(last(story, ORIGINATOR)).toMatchObject({ occurred_at: CLOSES_AT, data: { award: view.award } });
    expect(last(story.executes('mia', 'CONFIRMED'), ORIGINATOR)?.seq).toBe(4);
    expect(entriesOf(story, ORIGINATOR)[2]?.data).toEqual({ award: view.award });
  });

  it('shows a winner its award', () => {
    const story = quoting().awards({ mia: 4_000_000, moe: 1_000_000 });
    expect(kinds(story, MOE).slice(3)).toEqual(['AUCTION_CLOSED SYSTEM', 'QUOTE_AWARDED SYSTEM']);
    const award = { award_id: 'award-of-moe', price_atoms: 520_000, quantity_atoms: 1_000_000 };
    expect(last(story, MOE)).toMatchObject({ occurred_at: CLOSES_AT });
    expect(last(story, MOE)?.data).toEqual({ quote_id: 'quote-of-moe', ...award });
  });

  it('completes the auction for a loser at once', () => {
    const story = quoting().awards({ mia: 4_000_000, moe: 1_000_000 });
    const entries = entriesOf(story, MAX).slice(3);
    expect(entries.map(({ seq, kind, occurred_at, actor }) => [seq, kind, occurred_at, actor])).toEqual([
      [4, 'AUCTION_CLOSED', CLOSES_AT, 'SYSTEM'],
      [5, 'QUOTE_NOT_AWARDED', CLOSES_AT, 'SYSTEM'],
      [6, 'AUCTION_COMPLETED', CLOSES_AT, 'SYSTEM'],
    ]);
    const disclosed = { reason: 'NOT_SELECTED', rank: 3, winning_price_atoms: 520_000 };
    expect(entries.map((entry) => entry.data)).toEqual([
      {},
      { quote_id: 'quote-of-max', ...disclosed },
      { status: 'COMPLETED' },
    ]);
  });

  it('completes the auction for a maker without an active quote', () => {
    const story = quoting().withdraws('max').awards({ mia: 4_000_000 });
    expect(kinds(story, MAX).slice(4)).toEqual(['AUCTION_CLOSED SYSTEM', 'AUCTION_COMPLETED SYSTEM']);
    expect(kinds(story, MAY).slice(2)).toEqual(['AUCTION_CLOSED SYSTEM', 'AUCTION_COMPLETED SYSTEM']);
  });

  it('without an award completes the auction for all', () => {
    const story = quoting().withdraws('max').awardsNobody('MINIMUM_NOT_MET');
    expect(entriesOf(story, ORIGINATOR).slice(1)).toMatchObject([
      { kind: 'AUCTION_CLOSED', data: {} },
      { kind: 'AUCTION_NOT_AWARDED', actor: 'SYSTEM', data: { reason: 'MINIMUM_NOT_MET' } },
      { kind: 'AUCTION_COMPLETED', actor: 'SYSTEM', data: { status: 'NO_AWARD' } },
    ]);
    expect(entriesOf(story, MOE).slice(3)).toMatchObject([
      { kind: 'AUCTION_CLOSED' },
      { kind: 'QUOTE_NOT_AWARDED', data: { quote_id: 'quote-of-moe', reason: 'NO_AWARD' } },
      { kind: 'AUCTION_COMPLETED', data: { status: 'NO_AWARD' } },
    ]);
    expect(last(story, MAX)).toMatchObject({ kind: 'AUCTION_COMPLETED', data: { status: 'COMPLETED' } });
    expect(
      entriesOf(story, ORIGINATOR)
        .slice(1)
        .every((entry) => entry.occurred_at === CLOSES_AT),
    ).toBe(true);
  });
});

describe('execution', () => {
  const executed = () =>
    quoting()
      .awards({ mia: 4_000_000, moe: 1_000_000 })
      .executes('moe', 'SUBMITTED')
      .executes('mia', 'SUBMITTED')
      .executes('mia', 'CONFIRMED')
      .executes('moe', 'RETRYING', 'venue busy')
      .executes('moe', 'FAILED', 'venue down')
      .completes('PARTIALLY_SETTLED');

  it('is completely visible to the originator', () => {
    expect(kinds(executed(), ORIGINATOR).slice(3)).toEqual([
      'EXECUTION_SUBMITTED SYSTEM',
      'EXECUTION_SUBMITTED SYSTEM',
      'EXECUTION_CONFIRMED SYSTEM',
      'EXECUTION_RETRYING SYSTEM',
      'EXECUTION_FAILED SYSTEM',
      'AUCTION_COMPLETED SYSTEM',
    ]);
    expect(last(executed(), ORIGINATOR)?.data).toEqual({ status: 'PARTIALLY_SETTLED' });
  });

  it('is visible to each winner for its own award, whose end completes the auction for it', () => {
    const toMia = entriesOf(executed(), MIA).slice(5);
    expect(toMia.map((entry) => [entry.kind, entry.data])).toEqual([
      ['EXECUTION_SUBMITTED', { award_id: 'award-of-mia', attempt: 1 }],
      ['EXECUTION_CONFIRMED', { award_id: 'award-of-mia', attempt: 1 }],
      ['AUCTION_COMPLETED', { status: 'SETTLED' }],
    ]);
    expect(toMia[1]?.occurred_at).toBe(toMia[2]?.occurred_at);
    expect(entriesOf(executed(), MOE).slice(5)).toMatchObject([
      { kind: 'EXECUTION_SUBMITTED', data: {} },
      { kind: 'EXECUTION_RETRYING', data: { award_id: 'award-of-moe', attempt: 1, reason: 'venue busy' } },
      { kind: 'EXECUTION_FAILED', data: { award_id: 'award-of-moe', attempt: 1, reason: 'venue down' } },
      { kind: 'AUCTION_COMPLETED', actor: 'SYSTEM', data: { status: 'EXECUTION_FAILED' } },
    ]);
  });

  it('is invisible to losers', () => {
    expect(entriesOf(executed(), MAX)).toEqual(
      entriesOf(quoting().awards({ mia: 4_000_000, moe: 1_000_000 }), MAX),
    );
  });
});
