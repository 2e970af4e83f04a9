import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at, CONTRACT } from '#libs/testing/auctions/builders.js';
import { closes, revises, withdraws } from '#libs/testing/auctions/commands.js';
import { given, type Expected } from '#libs/testing/auctions/given.js';
import { CLOSES_AT } from '#libs/testing/auctions/story.js';
import { holdOf } from '../held.js';
import type { ReviseBody } from '../commands.js';
import { planRevise } from './plan-revise.js';
import { rejected, type ConflictCode, type RejectionCode } from '#libs/base/rejection.js';
import { findQuote } from '../state.js';
import type { QuoteRevisionPolicy, Side } from '../terms.js';

const HALT = rejected('MMP_FROZEN', 'Your protection has tripped.');

function accepted(quote: object, keepsPriority: boolean): Expected {
  return [
    at(5_000),
    'QUOTE_REVISED',
    { quote: expect.objectContaining({ revision: 2, ...quote }), keeps_priority: keepsPriority },
  ];
}

describe('a revision is accepted', () => {
  it('and keeps the fields that it does not name', () => {
    const quote = { min_quantity_atoms: 2 * CONTRACT, expires_at: at(9_000), client_reference: 'note' };
    given(anOpenAuction(), aQuote('mia', quote))
      .when(revises('mia', { price_atoms: 510_000 }))
      .then([
        at(5_000),
        'QUOTE_REVISED',
        {
          quote: {
            quote_id: 'quote-of-mia',
            maker: 'mia',
            revision: 2,
            price_atoms: 510_000,
            quantity_atoms: 4 * CONTRACT,
            ...quote,
            submitted_at: at(1_000),
            hold: expect.arrayContaining([
              { venue: 'venue_a', resource: 'COLLATERAL', asset: '', amount: 1_960_000 },
            ]),
          },
          keeps_priority: false,
        },
      ]);
  });

  it.each<[string, Partial<ReviseBody>, boolean]>([
    ['another price', { price_atoms: 499_000 }, false],
    ['a larger quantity', { quantity_atoms: 5 * CONTRACT }, false],
    ['a smaller quantity', { quantity_atoms: 3 * CONTRACT }, true],
    ['the same price and quantity', { price_atoms: 500_000, quantity_atoms: 4 * CONTRACT }, true],
    ['another minimum quantity', { min_quantity_atoms: 2 * CONTRACT }, true],
    ['another expiry', { expires_at: at(6_000) }, true],
    ['another note', { client_reference: 'note' }, true],
  ])('with %s (%j), keeping its priority: %p', (_what, body, keepsPriority) => {
    given(anOpenAuction(), aQuote('mia')).when(revises('mia', body)).then(accepted(body, keepsPriority));
  });

  it('with a larger quantity after a smaller one, which loses the priority', () => {
    const before = given(anOpenAuction(), aQuote('mia'), aQuote('max'));
    const less = before.and(revises('mia', { quantity_atoms: 3 * CONTRACT }));
    const more = less.and(revises('mia', { quantity_atoms: 4 * CONTRACT, expected_revision: 2 }));
    const priorities = [before, less, more].map(
      ({ state }) => findQuote(state, 'quote-of-mia')?.priority ?? 0,
    );
    const priorityOfMax = findQuote(more.state, 'quote-of-max')?.priority ?? 0;
    expect(priorities[1]).toBe(priorities[0]);
    expect(priorities[2]).toBeGreaterThan(priorityOfMax);
  });

  it('with the current hold and the new need', () => {
    const { state } = given(anOpenAuction(), aQuote('mia'));
    const body = { expected_revision: 1, price_atoms: 510_000 };
    expect(
      planRevise(state, 'quote-of-mia', body, { maker: 'mia', now: at(2), policy: undefined }),
    ).toMatchObject({
      current: holdOf(findQuote(state, 'quote-of-mia')),
      need: { side: 'SELL', price_atoms: 510_000, quantity_atoms: 4 * CONTRACT, parts: 1 },
    });
  });
});

describe('under IMPROVE_ONLY', () => {
  const improving = (side: Side) =>
    given(
      anOpenAuction({ side, quote_revision_policy: 'IMPROVE_ONLY' }),
      aQuote('mia', { min_quantity_atoms: 2 * CONTRACT }),
    );

  it.each<[Side, Partial<ReviseBody>]>([
    ['BUY', { price_atoms: 499_000 }],
    ['SELL', { price_atoms: 501_000 }],
    ['BUY', { quantity_atoms: 5 * CONTRACT }],
    ['SELL', { price_atoms: 501_000, quantity_atoms: 5 * CONTRACT }],
    ['BUY', { price_atoms: 499_000, min_quantity_atoms: CONTRACT }],
  ])('%s auction: %j improves the quote', (side, body) => {
    improving(side).when(revises('mia', body)).then(accepted(body, false));
  });

  it.each<[Side, Partial<ReviseBody>]>([
    ['BUY', { price_atoms: 501_000 }],
    ['SELL', { price_atoms: 499_000 }],
    ['BUY', { quantity_atoms: 3 * CONTRACT }],
    ['BUY', { price_atoms: 499_000, quantity_atoms: 3 * CONTRACT }],
    ['SELL', { price_atoms: 499_000, quantity_atoms: 5 * CONTRACT }],
    ['BUY', { price_atoms: 500_000, quantity_atoms: 4 * CONTRACT }],
    ['BUY', { min_quantity_atoms: CONTRACT }],
    ['BUY', { price_atoms: 499_000, min_quantity_atoms: 3 * CONTRACT }],
    ['SELL', { client_reference: 'note' }],
  ])('%s auction: %j is refused', (side, body) => {
    improving(side).when(revises('mia', body)).thenRefused('REVISION_NOT_IMPROVING');
  });

  it('a revision with an expiry is refused', () => {
    improving('BUY')
      .when(revises('mia', { price_atoms: 499_000, expires_at: at(9_000) }))
      .thenRefused('INVALID_TERMS');
  });
});

describe('QUOTE_NOT_REVISABLE is the answer', () => {
  const better = revises('mia', { price_atoms: 499_000 });

  it('for a quote under the policy FINAL', () => {
    given(anOpenAuction({ quote_revision_policy: 'FINAL' }), aQuote('mia'))
      .when(better)
      .thenRefused('QUOTE_NOT_REVISABLE');
  });

  it('for a quote that is over, also when its expiry is not journaled yet', () => {
    given(anOpenAuction(), aQuote('mia'), withdraws('mia')).when(better).thenRefused('QUOTE_NOT_REVISABLE');
    given(anOpenAuction(), aQuote('mia', { expires_at: at(5_000) }))
      .when(better)
      .thenRefused('QUOTE_NOT_REVISABLE');
  });

  it('for a quote of another maker, exactly as for an unknown quote', () => {
    const foreign = given(anOpenAuction(), aQuote('max'));
    const answers = ['quote-of-max', 'no-such-quote'].map((quote_id) =>
      revises('mia', { price_atoms: 499_000 }, { quote_id })(foreign.state),
    );
    expect(answers[0]).toMatchObject({ ok: false, error: 'QUOTE_NOT_REVISABLE' });
    expect(answers[0]).toEqual(answers[1]);
  });
});

/** Each row breaks one more rule. With the faults of a row and all later rows, the answer is the code of that row. */
describe('of several faults the first one is answered', () => {
  const rows: [RejectionCode | ConflictCode, Partial<ReviseBody>][] = [
    ['AUCTION_NOT_OPEN', {}],
    ['QUOTE_NOT_REVISABLE', {}],
    ['quote_revision_conflict', { expected_revision: 2 }],
    ['MMP_FROZEN', {}],
    ['PRICE_OUT_OF_RANGE', { price_atoms: 1_000_000 }],
    ['INVALID_PRICE_TICK', { price_atoms: 500_001 }],
    ['INVALID_QUANTITY_STEP', { quantity_atoms: 0 }],
    ['UNAUTHORIZED_SIZE', { quantity_atoms: 11 * CONTRACT }],
    ['QUANTITY_BELOW_MINIMUM', { min_quantity_atoms: 5 * CONTRACT }],
    ['INVALID_TERMS', { client_reference: '\n' }],
    ['REVISION_NOT_IMPROVING', { price_atoms: 600_000 }],
  ];
  const broken = rows.map(([code], index) => {
    const parts = rows.slice(index).map(([, part]) => part);
    return [index + 1, code, Object.assign({}, ...parts.reverse()) as Partial<ReviseBody>] as const;
  });
  it.each(broken)('%d. %s', (number, code, body) => {
    const quote_revision_policy: QuoteRevisionPolicy = number <= 2 ? 'FINAL' : 'IMPROVE_ONLY';
    const now = number <= 1 ? CLOSES_AT : at(5_000);
    given(anOpenAuction({ quote_revision_policy }), aQuote('mia'))
      .when(revises('mia', body, number <= 4 ? { now, policy: HALT } : { now }))
      .thenRefused(code);
  });

  it("a quantity below the quote's own minimum is refused", () => {
    given(anOpenAuction(), aQuote('mia', { min_quantity_atoms: 3 * CONTRACT }))
      .when(revises('mia', { quantity_atoms: 2 * CONTRACT }))
      .thenRefused('QUANTITY_BELOW_MINIMUM');
  });

  it('a revision in a closed auction is refused', () => {
    given(anOpenAuction(), aQuote('mia'), closes())
      .when(revises('mia', { price_atoms: 499_000 }))
      .thenRefused('AUCTION_NOT_OPEN');
  });
});
