import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { cancels, closes, voids } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import { CLOSES_AT } from '#libs/testing/auctions/story.js';
import type { EndRequest } from '../commands.js';

const LAST_NANOSECOND = CLOSES_AT.replace('1Z', '0Z');

describe('an originator cancels', () => {
  it('with or without a reason', () => {
    given(anOpenAuction(), aQuote('mia'))
      .when(cancels('no longer needed'))
      .then(
        [at(5_000), 'AUCTION_CANCELLED', { by: 'ORIGINATOR', reason: 'no longer needed' }],
        [at(5_000), 'AUCTION_COMPLETED', { status: 'CANCELLED' }],
      );
    given(anOpenAuction())
      .when(cancels(undefined, LAST_NANOSECOND))
      .then(
        [LAST_NANOSECOND, 'AUCTION_CANCELLED', { by: 'ORIGINATOR' }],
        [LAST_NANOSECOND, 'AUCTION_COMPLETED', { status: 'CANCELLED' }],
      );
  });

  it('under every quote revision policy', () => {
    const { state } = given(anOpenAuction({ quote_revision_policy: 'FINAL' }), aQuote('mia'), cancels());
    expect(state.books[0]?.quotes[0]?.status).toBe('RELEASED');
  });

  it.each(['x'.repeat(201), 'a\u0000b', '\u2028', '\ud800'])(
    'but is refused with the reason %j',
    (reason) => {
      given(anOpenAuction()).when(cancels(reason)).thenRefused('INVALID_TERMS');
    },
  );

  it('with a reason of 200 characters in any script', () => {
    const { state } = given(anOpenAuction(), cancels('😀'.repeat(200)));
    expect(state.cancellation?.reason).toBe('😀'.repeat(200));
  });
});

describe('an auction is voided', () => {
  it.each<EndRequest>([
    { by: 'OPERATOR', reason: 'market in dispute', operator: 'opal' },
    { by: 'SYSTEM' },
    { by: 'SYSTEM', reason: 'MARKET_STOPPED_TRADING' },
  ])('%j', (request) => {
    given(anOpenAuction(), aQuote('mia'))
      .when(voids(request))
      .then([at(5_000), 'AUCTION_VOIDED', request], [at(5_000), 'AUCTION_COMPLETED', { status: 'VOIDED' }]);
  });
});

describe('an operator voids an auction', () => {
  it.each([undefined, '', 'x'.repeat(201), 'a\u0000b'])('but is refused with the reason %j', (reason) => {
    const request = {
      by: 'OPERATOR' as const,
      operator: 'opal',
      ...(reason === undefined ? {} : { reason }),
    };
    given(anOpenAuction()).when(voids(request)).thenRefused('INVALID_TERMS');
  });

  it('with a reason of up to 200 characters', () => {
    const { state } = given(anOpenAuction(), voids({ by: 'OPERATOR', reason: '😀'.repeat(200) }));
    expect(state.cancellation?.reason).toBe('😀'.repeat(200));
  });
});

describe('an auction that is not open can be neither cancelled nor voided', () => {
  const over = [
    ['cancelled', given(anOpenAuction(), cancels())],
    ['voided', given(anOpenAuction(), voids({ by: 'SYSTEM' }))],
    ['closed', given(anOpenAuction(), closes())],
    ['awarded', given(anOpenAuction(), aQuote('mia'), closes())],
  ] as const;
  it.each(over)('%s', (_status, history) => {
    history.when(cancels('\n', at(6_000))).thenRefused('AUCTION_NOT_OPEN');
    history.when(voids({ by: 'OPERATOR' }, at(6_000))).thenRefused('AUCTION_NOT_OPEN');
  });

  it('also after closes_at, when the close is not journaled yet', () => {
    given(anOpenAuction()).when(cancels(undefined, CLOSES_AT)).thenRefused('AUCTION_NOT_OPEN');
    given(anOpenAuction())
      .when(voids({ by: 'OPERATOR' }, CLOSES_AT))
      .thenRefused('AUCTION_NOT_OPEN');
  });
});
