import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at, CONTRACT } from '#libs/testing/auctions/builders.js';
import { cancels, closes, submits, withdraws } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import { CLOSES_AT, storyTerms } from '#libs/testing/auctions/story.js';
import type { SubmitBody } from '../commands.js';
import { planSubmit, submitted } from './plan-submit.js';
import { rejected, type ConflictCode, type RejectionCode } from '#libs/base/rejection.js';

const HALT = rejected('VENUE_HALTED', 'A venue of the auction is halted.');

describe('a quote is accepted', () => {
  it('with one step as the default minimum quantity', () => {
    given(anOpenAuction())
      .when(submits('mia'))
      .then([
        at(5_000),
        'QUOTE_SUBMITTED',
        {
          quote: {
            quote_id: 'new-quote-of-mia',
            maker: 'mia',
            revision: 1,
            price_atoms: 500_000,
            quantity_atoms: 4 * CONTRACT,
            min_quantity_atoms: CONTRACT,
            submitted_at: at(5_000),
            hold: [
              { venue: 'venue_a', resource: 'COLLATERAL', asset: '', amount: 2 * CONTRACT },
              { venue: 'venue_a', resource: 'VENUE_POSITION_LIMIT', asset: '', amount: 4 * CONTRACT },
              { venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '', amount: 2 * CONTRACT },
            ],
          },
        },
      ]);
  });

  it('with every optional field as given', () => {
    const body = {
      price_atoms: 999_000,
      quantity_atoms: 10 * CONTRACT,
      min_quantity_atoms: 10 * CONTRACT,
      expires_at: at(5_001),
      client_reference: 'note',
    };
    given(anOpenAuction())
      .when(submits('mia', body))
      .then([at(5_000), 'QUOTE_SUBMITTED', { quote: expect.objectContaining(body) }]);
  });

  it('in the last nanosecond', () => {
    const now = CLOSES_AT.replace('1Z', '0Z');
    given(anOpenAuction())
      .when(submits('mia', {}, { now }))
      .then([now, 'QUOTE_SUBMITTED', expect.anything()]);
  });

  it('below the minimum fill and beyond the limit, because a refusal would disclose them', () => {
    given(anOpenAuction({ min_fill_quantity_atoms: 10 * CONTRACT, limit_price_atoms: 100_000 }))
      .when(submits('mia', { quantity_atoms: CONTRACT, price_atoms: 999_000 }))
      .then([at(5_000), 'QUOTE_SUBMITTED', expect.anything()]);
  });

  it('after the last one was withdrawn or has expired, journaled or not', () => {
    const again = [at(5_000), 'QUOTE_SUBMITTED', expect.anything()] as const;
    given(anOpenAuction(), aQuote('mia'), withdraws('mia')).when(submits('mia')).then(again);
    given(anOpenAuction(), aQuote('mia', { expires_at: at(5_000) }))
      .when(submits('mia'))
      .then(again);
  });

  it('whatever other makers have quoted', () => {
    given(anOpenAuction(), aQuote('max'))
      .when(submits('mia'))
      .then([at(5_000), 'QUOTE_SUBMITTED', expect.anything()]);
  });

  it('with the connection on which it came', () => {
    const plan = planSubmit(
      given(anOpenAuction()).state,
      { price_atoms: 500_000, quantity_atoms: CONTRACT },
      { maker: 'mia', now: at(1), policy: undefined, quote_id: 'q' },
    );
    if (!plan.ok) throw new Error(plan.error);
    expect(submitted(plan.quote, [], 'line-1').data).toMatchObject({ connection_id: 'line-1' });
    expect(submitted(plan.quote, []).data).not.toHaveProperty('connection_id');
  });
});

describe('the resources that a quote needs', () => {
  it.each([
    ['BUY', 'SELL'],
    ['SELL', 'BUY'],
  ] as const)('in a %s auction are those of a %s in one fill', (side, maker) => {
    const { state } = given(anOpenAuction({ side }));
    const body = { price_atoms: 300_000, quantity_atoms: 2 * CONTRACT };
    const plan = planSubmit(state, body, { maker: 'mia', now: at(1), policy: undefined, quote_id: 'q' });
    expect(plan).toMatchObject({ ok: true, need: { ...body, side: maker, parts: 1 } });
  });
});

describe('a quote is refused', () => {
  it('from the close on, even before the close is journaled', () => {
    given(anOpenAuction())
      .when(submits('mia', {}, { now: CLOSES_AT }))
      .thenRefused('AUCTION_NOT_OPEN');
    given(anOpenAuction(), closes()).when(submits('mia')).thenRefused('AUCTION_NOT_OPEN');
  });

  it('once the auction is cancelled', () => {
    given(anOpenAuction(), cancels())
      .when(submits('mia', {}, { now: at(6_000) }))
      .thenRefused('AUCTION_NOT_OPEN');
  });

  it('while the maker has an active one', () => {
    given(anOpenAuction(), aQuote('mia')).when(submits('mia')).thenRefused('quote_already_active');
    given(anOpenAuction(), aQuote('mia', { expires_at: at(5_001) }))
      .when(submits('mia'))
      .thenRefused('quote_already_active');
  });

  it.each(['IMPROVE_ONLY', 'FINAL'] as const)('with an expiry under %s', (quote_revision_policy) => {
    given(anOpenAuction({ quote_revision_policy }))
      .when(submits('mia', { expires_at: at(9_000) }))
      .thenRefused('INVALID_TERMS');
  });
});

/** Each row breaks one more rule. With the faults of a row and all later rows, the answer is the code of that row. */
describe('of several faults the first one is answered', () => {
  const rows: [RejectionCode | ConflictCode, Partial<SubmitBody>][] = [
    ['AUCTION_NOT_OPEN', {}],
    ['VENUE_HALTED', {}],
    ['PRICE_OUT_OF_RANGE', { price_atoms: 0 }],
    ['PRICE_OUT_OF_RANGE', { price_atoms: 999_001 }],
    ['INVALID_PRICE_TICK', { price_atoms: 1_001 }],
    ['INVALID_QUANTITY_STEP', { quantity_atoms: 0 }],
    ['INVALID_QUANTITY_STEP', { quantity_atoms: 20 * CONTRACT + 1 }],
    ['UNAUTHORIZED_SIZE', { quantity_atoms: 11 * CONTRACT }],
    ['INVALID_QUANTITY_STEP', { min_quantity_atoms: 0 }],
    ['INVALID_QUANTITY_STEP', { min_quantity_atoms: 20 * CONTRACT + 1 }],
    ['QUANTITY_BELOW_MINIMUM', { min_quantity_atoms: 5 * CONTRACT }],
    ['INVALID_TERMS', { expires_at: at(5_000) }],
    ['INVALID_TERMS', { client_reference: '\u202e' }],
    ['quote_already_active', {}],
  ];
  const broken = rows.map(([code], index) => {
    const parts = rows.slice(index).map(([, part]) => part);
    return [index + 1, code, Object.assign({}, ...parts.reverse()) as Partial<SubmitBody>] as const;
  });
  it.each(broken)('%d. %s', (number, code, body) => {
    const now = number <= 1 ? CLOSES_AT : at(5_000);
    given(anOpenAuction(), aQuote('mia'))
      .when(submits('mia', body, number <= 2 ? { now, policy: HALT } : { now }))
      .thenRefused(code);
  });
});

it('a refusal does not depend on the limit or the minimum fill', () => {
  const secrets = [{}, { limit_price_atoms: 1_000, min_fill_quantity_atoms: 7 * CONTRACT }];
  const bodies = [
    { price_atoms: 0 },
    { price_atoms: 1 },
    { quantity_atoms: 1 },
    { quantity_atoms: 11 * CONTRACT },
  ];
  for (const body of bodies) {
    const messages = secrets.map((secret) => {
      const { state } = given(anOpenAuction(storyTerms(secret)));
      const answer = submits('mia', body)(state);
      return 'message' in answer ? answer.message : 'accepted';
    });
    expect(messages[0]).toBe(messages[1]);
    expect(messages[0]).not.toBe('accepted');
  }
});
