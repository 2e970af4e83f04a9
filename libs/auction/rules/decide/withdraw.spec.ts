import { describe, it } from '@jest/globals';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { cancels, closes, submits, withdraws } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import { CLOSES_AT } from '#libs/testing/auctions/story.js';

const QUOTE = { quote_id: 'quote-of-mia', maker: 'mia' };
const EVERY_PARTY = ['MARKET_MAKER', 'DISCONNECT', 'PROTECTION', 'OPERATOR'] as const;

describe('a quote is withdrawn', () => {
  it.each(EVERY_PARTY)('by %s', (by) => {
    given(anOpenAuction(), aQuote('mia'))
      .when(withdraws('mia', { by }))
      .then([at(5_000), 'QUOTE_WITHDRAWN', { ...QUOTE, by }]);
  });

  it('with the right expected revision', () => {
    given(anOpenAuction(), aQuote('mia'))
      .when(withdraws('mia', { expected_revision: 1 }))
      .then([at(5_000), 'QUOTE_WITHDRAWN', { ...QUOTE, by: 'MARKET_MAKER' }]);
  });

  it('without a change to other quotes', () => {
    given(anOpenAuction(), aQuote('mia'), aQuote('max'), withdraws('mia'))
      .when(withdraws('max'))
      .then([at(5_000), 'QUOTE_WITHDRAWN', { quote_id: 'quote-of-max', maker: 'max', by: 'MARKET_MAKER' }]);
  });
});

describe('a withdrawal is refused', () => {
  it.each(EVERY_PARTY)('under IMPROVE_ONLY and FINAL, also by %s', (by) => {
    for (const quote_revision_policy of ['IMPROVE_ONLY', 'FINAL'] as const) {
      given(anOpenAuction({ quote_revision_policy }), aQuote('mia'))
        .when(withdraws('mia', { by }))
        .thenRefused('QUOTE_NOT_WITHDRAWABLE');
    }
  });

  it('with a conflict when the expected revision is wrong', () => {
    given(anOpenAuction(), aQuote('mia'))
      .when(withdraws('mia', { expected_revision: 2 }))
      .thenRefused('quote_revision_conflict');
  });

  it('when the quote is withdrawn, expired or unknown', () => {
    given(anOpenAuction(), aQuote('mia'), withdraws('mia'))
      .when(withdraws('mia'))
      .thenRefused('QUOTE_NOT_WITHDRAWABLE');
    given(anOpenAuction(), aQuote('mia', { expires_at: at(5_000) }))
      .when(withdraws('mia'))
      .thenRefused('QUOTE_NOT_WITHDRAWABLE');
    given(anOpenAuction()).when(withdraws('mia')).thenRefused('QUOTE_NOT_WITHDRAWABLE');
  });

  it('for an old quote when there is a newer one', () => {
    given(anOpenAuction(), aQuote('mia'), withdraws('mia'), submits('mia'))
      .when(withdraws('mia'))
      .thenRefused('QUOTE_NOT_WITHDRAWABLE');
  });
});

describe('of several faults the first one is answered', () => {
  const finals = anOpenAuction({ quote_revision_policy: 'FINAL' });
  const wrong = { expected_revision: 9 };

  it('first that the auction is not open', () => {
    given(finals, aQuote('mia'))
      .when(withdraws('mia', wrong, CLOSES_AT))
      .thenRefused('AUCTION_NOT_OPEN');
    given(finals, aQuote('mia'), closes()).when(withdraws('mia', wrong)).thenRefused('AUCTION_NOT_OPEN');
    given(finals, cancels()).when(withdraws('mia', wrong)).thenRefused('AUCTION_NOT_OPEN');
  });

  it("then the quote's state, then the revision", () => {
    given(finals, aQuote('mia')).when(withdraws('mia', wrong)).thenRefused('QUOTE_NOT_WITHDRAWABLE');
  });
});
