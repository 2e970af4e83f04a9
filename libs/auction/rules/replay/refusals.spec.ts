import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { closes, withdraws } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import type { QuoteOperation } from '../events.js';
import { objectionToCancelRefusal, objectionToRefusal } from './refusals.js';
import type { AuctionState } from '../state.js';

const QUOTED = given(anOpenAuction(), aQuote('mia')).state;
const FINAL = given(anOpenAuction({ quote_revision_policy: 'FINAL' }), aQuote('mia')).state;
const WITHDRAWN = given(anOpenAuction(), aQuote('mia'), withdraws('mia')).state;
const AWARDED = given(
  anOpenAuction(),
  aQuote('mia'),
  aQuote('max', { price_atoms: 900_000 }),
  closes(),
).state;

const recorded = { version: 1, auction_id: QUOTED.terms.auction_id, at: at(6_000) };

interface Told {
  readonly operation: QuoteOperation;
  readonly error: string;
  readonly maker?: string;
  readonly quote_id?: string;
  readonly at?: string;
}

function objection(before: AuctionState, { at: moment = recorded.at, ...told }: Told): string | undefined {
  const own = told.operation === 'SUBMIT' ? {} : { quote_id: 'quote-of-mia' };
  const data = { maker: 'mia', message: 'No.', ...own, ...told };
  return objectionToRefusal(before, { ...recorded, at: moment, type: 'QUOTE_REJECTED', data });
}

describe('a refusal that the rules could have given', () => {
  it.each<[string, AuctionState, Told]>([
    ['a price off the grid', QUOTED, { operation: 'SUBMIT', error: 'INVALID_PRICE_TICK' }],
    ['too little to set aside', WITHDRAWN, { operation: 'SUBMIT', error: 'INSUFFICIENT_COLLATERAL' }],
    ['a halt', QUOTED, { operation: 'REVISE', error: 'SERVICE_HALTED' }],
    ['a final quote', FINAL, { operation: 'REVISE', error: 'QUOTE_NOT_REVISABLE' }],
    ['a quote that is gone', WITHDRAWN, { operation: 'WITHDRAW', error: 'QUOTE_NOT_WITHDRAWABLE' }],
    [
      'a winner that would withdraw',
      AWARDED,
      { operation: 'WITHDRAW', error: 'AUCTION_NOT_OPEN', at: at(61_000) },
    ],
  ])('stands: %s', (_what, before, told) => {
    expect(objection(before, told)).toBeUndefined();
  });
});

describe('a refusal that no rule gives', () => {
  it.each<[string, AuctionState, Told, string]>([
    ['an error of nobody', QUOTED, { operation: 'SUBMIT', error: 'LALA' }, 'no SUBMIT is refused with LALA'],
    [
      'a withdrawal for policy',
      QUOTED,
      { operation: 'WITHDRAW', error: 'MMP_FROZEN' },
      'no WITHDRAW is refused',
    ],
    [
      'somebody who was not invited',
      QUOTED,
      { operation: 'SUBMIT', error: 'INVALID_TERMS', maker: 'eve' },
      'not invited',
    ],
    [
      "another's quote",
      QUOTED,
      { operation: 'REVISE', error: 'INVALID_TERMS', maker: 'max' },
      'a quote of its maker',
    ],
    [
      'a quote that never was',
      QUOTED,
      { operation: 'REVISE', error: 'INVALID_TERMS', quote_id: 'q' },
      'a quote of its maker',
    ],
    [
      'a first quote with an id',
      QUOTED,
      { operation: 'SUBMIT', error: 'INVALID_TERMS', quote_id: 'quote-of-mia' },
      'a quote of its maker',
    ],
    ['an auction that was open', QUOTED, { operation: 'SUBMIT', error: 'AUCTION_NOT_OPEN' }, 'was open'],
    [
      'an auction that was not',
      AWARDED,
      { operation: 'SUBMIT', error: 'INVALID_TERMS', at: at(61_000) },
      'was not open',
    ],
    [
      'a time behind the close',
      QUOTED,
      { operation: 'SUBMIT', error: 'AUCTION_NOT_OPEN', at: at(60_000) },
      'after the close',
    ],
    [
      'a loser behind the close',
      AWARDED,
      { operation: 'SUBMIT', error: 'AUCTION_NOT_OPEN', maker: 'max', at: at(61_000) },
      'over for its maker',
    ],
    [
      'capacity for a second quote',
      QUOTED,
      { operation: 'SUBMIT', error: 'INSUFFICIENT_COLLATERAL' },
      'nothing was to be set aside',
    ],
    [
      'a quote that could be revised',
      QUOTED,
      { operation: 'REVISE', error: 'QUOTE_NOT_REVISABLE' },
      'the quote stood',
    ],
    [
      'a quote that could not',
      FINAL,
      { operation: 'REVISE', error: 'INVALID_PRICE_TICK' },
      'QUOTE_NOT_REVISABLE',
    ],
    [
      'a quote that could be withdrawn',
      QUOTED,
      { operation: 'WITHDRAW', error: 'QUOTE_NOT_WITHDRAWABLE' },
      'the quote stood',
    ],
    [
      'improvement that nobody asked for',
      QUOTED,
      { operation: 'REVISE', error: 'REVISION_NOT_IMPROVING' },
      'need not improve',
    ],
  ])('is objected to: %s', (_what, before, told, why) => {
    expect(objection(before, told)).toContain(why);
  });
});

describe('a cancel that was refused', () => {
  it.each<[string, AuctionState, string, string | undefined]>([
    ['for its reason', QUOTED, 'INVALID_TERMS', undefined],
    ['behind the close', AWARDED, 'AUCTION_NOT_OPEN', undefined],
    ['with an error of nobody', QUOTED, 'LALA', 'no cancel is refused with LALA'],
    ['as if it were not open', QUOTED, 'AUCTION_NOT_OPEN', 'was open'],
    ['for its reason, too late', AWARDED, 'INVALID_TERMS', 'was not open'],
  ])('%s', (_what, before, error, why) => {
    const event = {
      ...recorded,
      at: before === AWARDED ? at(61_000) : at(6_000),
      type: 'CANCEL_REJECTED',
      data: { error, message: 'No.' },
    } as const;
    const told = objectionToCancelRefusal(before, event);
    if (why === undefined) expect(told).toBeUndefined();
    else expect(told).toContain(why);
  });
});
