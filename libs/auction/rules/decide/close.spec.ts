import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at, CONTRACT, type Tokens } from '#libs/testing/auctions/builders.js';
import { cancels, closes, reports, withdraws } from '#libs/testing/auctions/commands.js';
import { given, type Expected, type Past } from '#libs/testing/auctions/given.js';
import { CLOSES_AT } from '#libs/testing/auctions/story.js';
import type { Decided } from '../decided.js';
import type { AwardTerms, NotAwardedReason } from '../events.js';
import type { Hold, Terms } from '../terms.js';

const CLOSED: Expected = [CLOSES_AT, 'AUCTION_CLOSED', {}];

function notAwarded(reason: NotAwardedReason): [Expected, Expected] {
  return [
    [CLOSES_AT, 'AUCTION_NOT_AWARDED', { reason }],
    [CLOSES_AT, 'AUCTION_COMPLETED', { status: 'NO_AWARD' }],
  ];
}

function awardsOf(...history: readonly Past[]): readonly AwardTerms[] {
  const decided = closes()(given(...history).state) as readonly Decided[];
  const [event] = decided.flatMap(({ body }) => (body.type === 'AUCTION_AWARDED' ? [body] : []));
  return event?.data.awards ?? [];
}

describe('a close without an award', () => {
  it.each<[NotAwardedReason, Partial<Terms>, string[]]>([
    ['NO_QUOTES', {}, []],
    ['RESERVE_NOT_MET', { limit_price_atoms: 499_000 }, ['mia', 'max']],
    ['MINIMUM_NOT_MET', { min_fill_quantity_atoms: 9 * CONTRACT }, ['mia', 'max']],
    [
      'MINIMUM_NOT_MET',
      { allocation: 'SINGLE_WINNER', min_fill_quantity_atoms: 5 * CONTRACT },
      ['mia', 'max'],
    ],
  ])('%s', (reason, terms, makers) => {
    given(anOpenAuction(terms), ...makers.map((maker) => aQuote(maker)))
      .when(closes())
      .then(CLOSED, ...notAwarded(reason));
  });

  it('has reason NO_QUOTES when all quotes were withdrawn', () => {
    given(anOpenAuction(), aQuote('mia'), withdraws('mia'))
      .when(closes())
      .then(CLOSED, ...notAwarded('NO_QUOTES'));
  });

  it('has reason NO_QUOTES when all quotes expire before the close or at its very instant', () => {
    given(anOpenAuction(), aQuote('mia', { expires_at: CLOSES_AT }), aQuote('max', { expires_at: at(9_000) }))
      .when(closes())
      .then(
        [at(9_000), 'QUOTE_EXPIRED', { quote_id: 'quote-of-max', maker: 'max' }],
        [CLOSES_AT, 'QUOTE_EXPIRED', { quote_id: 'quote-of-mia', maker: 'mia' }],
        CLOSED,
        ...notAwarded('NO_QUOTES'),
      );
  });
});

describe('a close with an award', () => {
  it('gives each winner its own price, in the order of the ranking, at closes_at', () => {
    const [mia, max] = awardsOf(anOpenAuction(), aQuote('mia', { price_atoms: 510_000 }), aQuote('max'));
    given(anOpenAuction(), aQuote('mia', { price_atoms: 510_000 }), aQuote('max'))
      .when(closes())
      .then(CLOSED, [CLOSES_AT, 'AUCTION_AWARDED', { awards: [mia, max], execution_deadline: at(120_000) }]);
    expect(mia).toMatchObject({ maker: 'max', price_atoms: 500_000, quantity_atoms: 4 * CONTRACT });
    expect(max).toMatchObject({
      award_id: 'award-of-quote-of-mia',
      quote_id: 'quote-of-mia',
      maker: 'mia',
      price_atoms: 510_000,
    });
  });

  it('counts a quote that expires one nanosecond after the close', () => {
    const expires_at = CLOSES_AT.replace('1Z', '2Z');
    expect(awardsOf(anOpenAuction(), aQuote('mia', { expires_at }))).toHaveLength(1);
  });
});

describe('what stays set aside after the award', () => {
  const collateral = (amount: number): Hold => ({
    venue: 'venue_a',
    resource: 'COLLATERAL',
    asset: '',
    amount,
  });
  const tokens = (amount: number): Hold => ({
    venue: 'venue_a',
    resource: 'OUTCOME_TOKEN',
    asset: 'rain/YES',
    amount,
  });
  const having =
    (amount: number): Tokens =>
    () =>
      amount;

  it('for a maker: what its own award needs, tokens first', () => {
    const [, partly] = awardsOf(
      anOpenAuction({ quantity_atoms: 6 * CONTRACT }),
      aQuote('mia'),
      aQuote('max', {}, having(1_500_000)),
    );
    expect(partly).toMatchObject({ maker: 'max', quantity_atoms: 2 * CONTRACT });
    expect(partly?.maker_hold).toEqual([
      tokens(1_500_000),
      collateral(250_000),
      { venue: 'venue_a', resource: 'VENUE_POSITION_LIMIT', asset: '', amount: 2 * CONTRACT },
      { venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '', amount: CONTRACT },
    ]);
  });

  it('for a buying originator: the price of the award, not of its limit', () => {
    const [award] = awardsOf(anOpenAuction(), aQuote('mia'));
    expect(award?.originator_hold).toContainEqual(collateral(2 * CONTRACT));
  });

  it('for a selling originator: tokens for the best award first, collateral for the others', () => {
    const selling = anOpenAuction({ side: 'SELL', limit_price_atoms: 400_000 }, having(5 * CONTRACT));
    const [best, second] = awardsOf(selling, aQuote('mia'), aQuote('max', { price_atoms: 600_000 }));
    expect(best).toMatchObject({ maker: 'max' });
    expect(best?.originator_hold.slice(0, 1)).toEqual([tokens(4 * CONTRACT)]);
    expect(best?.originator_hold).not.toContainEqual(expect.objectContaining({ resource: 'COLLATERAL' }));
    expect(second?.originator_hold.slice(0, 2)).toEqual([tokens(CONTRACT), collateral(1_500_000)]);
  });

  it('for tokens on several routes: the tokens of each, because any route may be used', () => {
    const routes = ['rain', 'wet'].map((contract_id) => ({
      venue: 'venue_a',
      contract_id,
      outcome: 'YES',
      title: contract_id,
    }));
    const onWet: Tokens = ({ contract_id }) => (contract_id === 'wet' ? 3 * CONTRACT : 0);
    const [award] = awardsOf(anOpenAuction({ routes }), aQuote('mia', {}, onWet));
    expect(award?.maker_hold.slice(0, 2)).toEqual([
      { ...tokens(3 * CONTRACT), asset: 'wet/YES' },
      collateral(2 * CONTRACT),
    ]);
  });
});

describe('a close that broke off continues where it ended', () => {
  it.each<[string, Partial<Terms>, string[]]>([
    ['with an award', {}, ['mia', 'max']],
    ['without a winner', { limit_price_atoms: 1_000 }, ['mia', 'max']],
    ['without quotes', {}, []],
  ])('%s, without a second decision', (_case, terms, makers) => {
    const open = given(
      anOpenAuction(terms),
      ...makers.map((maker) => aQuote(maker)),
      aQuote('moe', { expires_at: at(9_000) }),
    );
    const events = closes()(open.state) as readonly Decided[];
    for (let done = 0; done <= events.length; done += 1) {
      const broken = given(
        anOpenAuction(terms),
        ...makers.map((maker) => aQuote(maker)),
        aQuote('moe', { expires_at: at(9_000) }),
        ...events.slice(0, done),
      );
      expect(closes()(broken.state)).toEqual(events.slice(done));
    }
  });

  it('an auction that is over is not closed again', () => {
    const won = given(anOpenAuction(), aQuote('mia'), closes());
    won.when(closes()).then();
    const report = reports({ award_id: 'award-of-quote-of-mia', step: 'CONFIRMED', attempt: 1 });
    won.and(report).when(closes()).then();
    given(anOpenAuction(), aQuote('mia'), cancels()).when(closes()).then();
  });
});
