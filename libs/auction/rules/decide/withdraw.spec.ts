import { describe, it } from '@jest/globals';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { cancels, closes, submits, withdraws } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import { CLOSES_AT } from '#libs/testing/auctions/story.js';

const QUOTE = { quote_id: 'quote-of-mia', maker: 'mia' };
const EVERYBODY = ['MARKET_MAKER', 'DISCONNECT', 'PROTECTION', 'OPERATOR'] as const;

describe('a quote is withdrawn', () => {
  it.each(EVERYBODY)('by %s', (by) => {
    given(anOpenAuction(), aQuote('mia'))
      .when(withdraws('mia', { by }))
      .then([at(5_000), 'QUOTE_WITHDRAWN', { ...QUOTE, by }]);
  });

  it('at the revision that its maker knows', () => {
    given(anOpenAuction(), aQuote('mia'))
      .when(withdraws('mia', { expected_revision: 1 }))
      .then([at(5_000), 'QUOTE_WITHDRAWN', { ...QUOTE, by: 'MARKET_MAKER' }]);
  });

  it('without any of the others being touched', () => {
    given(anOpenAuction(), aQuote('mia'), aQuote('max'), withdraws('mia'))
      .when(withdraws('max'))
      .then([at(5_000), 'QUOTE_WITHDRAWN', { quote_id: 'quote-of-max', maker: 'max', by: 'MARKET_MAKER' }]);
  });
});

describe('a quote stays', () => {
  it.each(EVERYBODY)('under IMPROVE_ONLY and FINAL, whoever would take it back: %s', (by) => {
    for (const quote_revision_policy of ['IMPROVE_ONLY', 'FINAL'] as const) {
      given(anOpenAuction({ quote_revision_policy }), aQuote('mia'))
        .when(withdraws('mia', { by }))
        .thenRefused('QUOTE_NOT_WITHDRAWABLE');
    }
  });

  it('when its maker is thinking of another revision', () => {
    given(anOpenAuction(), aQuote('mia'))
      .when(withdraws('mia', { expected_revision: 2 }))
      .thenRefused('quote_revision_conflict');
  });

  it('withdrawn, expired or never given as it is', () => {
    given(anOpenAuction(), aQuote('mia'), withdraws('mia'))
      .when(withdraws('mia'))
      .thenRefused('QUOTE_NOT_WITHDRAWABLE');
    given(anOpenAuction(), aQuote('mia', { expires_at: at(5_000) }))
      .when(withdraws('mia'))
      .thenRefused('QUOTE_NOT_WITHDRAWABLE');
    given(anOpenAuction()).when(withdraws('mia')).thenRefused('QUOTE_NOT_WITHDRAWABLE');
  });

  it('the old one, where there is a newer', () => {
    given(anOpenAuction(), aQuote('mia'), withdraws('mia'), submits('mia'))
      .when(withdraws('mia'))
      .thenRefused('QUOTE_NOT_WITHDRAWABLE');
  });
});

describe('of several faults the first is told', () => {
  const finals = anOpenAuction({ quote_revision_policy: 'FINAL' });
  const wrong = { expected_revision: 9 };

  it('the auction is not open', () => {
    given(finals, aQuote('mia'))
      .when(withdraws('mia', wrong, CLOSES_AT))
      .thenRefused('AUCTION_NOT_OPEN');
    given(finals, aQuote('mia'), closes()).when(withdraws('mia', wrong)).thenRefused('AUCTION_NOT_OPEN');
    given(finals, cancels()).when(withdraws('mia', wrong)).thenRefused('AUCTION_NOT_OPEN');
  });

  it('then the quote, then the revision', () => {
    given(finals, aQuote('mia')).when(withdraws('mia', wrong)).thenRefused('QUOTE_NOT_WITHDRAWABLE');
  });
});
