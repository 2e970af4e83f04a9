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

interface Refusal {
  readonly operation: QuoteOperation;
  readonly error: string;
  readonly maker?: string;
  readonly quote_id?: string;
  readonly at?: string;
}

function objection(
  before: AuctionState,
  { at: moment = recorded.at, ...refusal }: Refusal,
): string | undefined {
  const own = refusal.operation === 'SUBMIT' ? {} : { quote_id: 'quote-of-mia' };
  const data = { maker: 'mia', message: 'No.', ...own, ...refusal };
  return objectionToRefusal(before, { ...recorded, at: moment, type: 'QUOTE_REJECTED', data });
}

describe('a refusal that the rules could have given is accepted', () => {
  it.each<[string, AuctionState, Refusal]>([
    ['a price off the grid', QUOTED, { operation: 'SUBMIT', error: 'INVALID_PRICE_TICK' }],
    ['too little capacity', WITHDRAWN, { operation: 'SUBMIT', error: 'INSUFFICIENT_COLLATERAL' }],
    ['a halt', QUOTED, { operation: 'REVISE', error: 'SERVICE_HALTED' }],
    ['a final quote', FINAL, { operation: 'REVISE', error: 'QUOTE_NOT_REVISABLE' }],
    [
      'a quote that is not active any more',
      WITHDRAWN,
      { operation: 'WITHDRAW', error: 'QUOTE_NOT_WITHDRAWABLE' },
    ],
    [
      'a withdrawal by a winner',
      AWARDED,
      { operation: 'WITHDRAW', error: 'AUCTION_NOT_OPEN', at: at(61_000) },
    ],
  ])('%s', (_case, before, refusal) => {
    expect(objection(before, refusal)).toBeUndefined();
  });
});

describe('a refusal that no rule gives is reported', () => {
  it.each<[string, AuctionState, Refusal, string]>([
    ['an unknown error', QUOTED, { operation: 'SUBMIT', error: 'LALA' }, 'no SUBMIT is refused with LALA'],
    [
      'a withdrawal refused by policy',
      QUOTED,
      { operation: 'WITHDRAW', error: 'MMP_FROZEN' },
      'no WITHDRAW is refused',
    ],
    [
      'a maker who was not invited',
      QUOTED,
      { operation: 'SUBMIT', error: 'INVALID_TERMS', maker: 'eve' },
      'not invited',
    ],
    [
      'a quote of another maker',
      QUOTED,
      { operation: 'REVISE', error: 'INVALID_TERMS', maker: 'max' },
      'a quote of its maker',
    ],
    [
      'a quote that does not exist',
      QUOTED,
      { operation: 'REVISE', error: 'INVALID_TERMS', quote_id: 'q' },
      'a quote of its maker',
    ],
    [
      'a submission that already has a quote id',
      QUOTED,
      { operation: 'SUBMIT', error: 'INVALID_TERMS', quote_id: 'quote-of-mia' },
      'a quote of its maker',
    ],
    [
      'AUCTION_NOT_OPEN while the auction was open',
      QUOTED,
      { operation: 'SUBMIT', error: 'AUCTION_NOT_OPEN' },
      'was open',
    ],
    [
      'another error while the auction was not open',
      AWARDED,
      { operation: 'SUBMIT', error: 'INVALID_TERMS', at: at(61_000) },
      'was not open',
    ],
    [
      'a time after the close, before the close was journaled',
      QUOTED,
      { operation: 'SUBMIT', error: 'AUCTION_NOT_OPEN', at: at(60_000) },
      'after the close',
    ],
    [
      'a losing maker after the close',
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
      'QUOTE_NOT_REVISABLE for a revisable quote',
      QUOTED,
      { operation: 'REVISE', error: 'QUOTE_NOT_REVISABLE' },
      'the quote was active',
    ],
    [
      'another error for a quote that could not be revised',
      FINAL,
      { operation: 'REVISE', error: 'INVALID_PRICE_TICK' },
      'QUOTE_NOT_REVISABLE',
    ],
    [
      'QUOTE_NOT_WITHDRAWABLE for a withdrawable quote',
      QUOTED,
      { operation: 'WITHDRAW', error: 'QUOTE_NOT_WITHDRAWABLE' },
      'the quote was active',
    ],
    [
      'no improvement where none is required',
      QUOTED,
      { operation: 'REVISE', error: 'REVISION_NOT_IMPROVING' },
      'need not improve',
    ],
  ])('%s', (_case, before, refusal, why) => {
    expect(objection(before, refusal)).toContain(why);
  });
});

describe('a refused cancel', () => {
  it.each<[string, AuctionState, string, string | undefined]>([
    ['with INVALID_TERMS while the auction was open is accepted', QUOTED, 'INVALID_TERMS', undefined],
    ['with AUCTION_NOT_OPEN after the close is accepted', AWARDED, 'AUCTION_NOT_OPEN', undefined],
    ['with an unknown error is reported', QUOTED, 'LALA', 'no cancel is refused with LALA'],
    ['with AUCTION_NOT_OPEN while the auction was open is reported', QUOTED, 'AUCTION_NOT_OPEN', 'was open'],
    ['with INVALID_TERMS after the close is reported', AWARDED, 'INVALID_TERMS', 'was not open'],
  ])('%s', (_case, before, error, why) => {
    const event = {
      ...recorded,
      at: before === AWARDED ? at(61_000) : at(6_000),
      type: 'CANCEL_REJECTED',
      data: { error, message: 'No.' },
    } as const;
    const text = objectionToCancelRefusal(before, event);
    if (why === undefined) expect(text).toBeUndefined();
    else expect(text).toContain(why);
  });
});
