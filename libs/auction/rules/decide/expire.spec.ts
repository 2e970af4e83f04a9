import { describe, it } from '@jest/globals';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { expires, revises, withdraws } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';

const expiry = (maker: string, millis: number) =>
  [at(millis), 'QUOTE_EXPIRED', { quote_id: `quote-of-${maker}`, maker }] as const;

describe('quotes expire', () => {
  const three = given(
    anOpenAuction(),
    aQuote('mia', { expires_at: at(7_000) }),
    aQuote('max', { expires_at: at(6_000) }),
    aQuote('moe', { expires_at: at(8_000) }),
    aQuote('may'),
  );

  it('at their own time and in that order, however late the expiry is decided', () => {
    three.when(expires(at(7_500))).then(expiry('max', 6_000), expiry('mia', 7_000));
    three.when(expires(at(59_000))).then(expiry('max', 6_000), expiry('mia', 7_000), expiry('moe', 8_000));
  });

  it('at the exact nanosecond and not before', () => {
    three.when(expires(at(6_000))).then(expiry('max', 6_000));
    three.when(expires(at(6_000).replace('1Z', '0Z'))).then();
  });

  it('in the order of their priority when the times are equal', () => {
    given(
      anOpenAuction(),
      aQuote('mia', { expires_at: at(6_000) }),
      aQuote('max', { expires_at: at(6_000) }),
      revises('mia', { price_atoms: 499_000 }),
    )
      .when(expires(at(6_000)))
      .then(expiry('max', 6_000), expiry('mia', 6_000));
  });

  it('only once', () => {
    three
      .and(expires(at(6_000)))
      .when(expires(at(6_000)))
      .then();
    three
      .and(withdraws('max'))
      .when(expires(at(6_000)))
      .then();
  });

  it('at the time that the last revision set', () => {
    given(
      anOpenAuction(),
      aQuote('mia', { expires_at: at(6_000) }),
      revises('mia', { expires_at: at(9_000) }),
    )
      .when(expires(at(10_000)))
      .then(expiry('mia', 9_000));
  });
});
