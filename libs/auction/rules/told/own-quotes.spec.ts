import { describe, expect, it } from '@jest/globals';
import { AuctionStory, makerNamed, ORIGINATOR, storyTerms } from '#libs/testing/auctions/story.js';
import { quotesFor } from './award-view.js';

function quoting(): AuctionStory {
  return new AuctionStory(
    storyTerms({ identity_policy: { originator: 'ANONYMOUS', market_makers: 'DISCLOSED_AFTER_AWARD' } }),
  )
    .submits('mia', { quote_id: 'first-of-mia' })
    .submits('max', { price_atoms: 600_000 })
    .withdraws('mia')
    .submits('mia', { quote_id: 'second-of-mia', client_reference: 'note-of-mia' })
    .submits('moe', { price_atoms: 490_000 });
}

const ids = (story: AuctionStory, viewer = ORIGINATOR) =>
  quotesFor(story.state, viewer).map((quote) => quote.quote_id);

describe('the list of quotes in one auction', () => {
  it("has a maker's own quotes, newest first", () => {
    expect(ids(quoting(), makerNamed('mia'))).toEqual(['second-of-mia', 'first-of-mia']);
    expect(ids(quoting(), makerNamed('max'))).toEqual(['quote-of-max']);
    expect(ids(quoting(), makerNamed('may'))).toEqual([]);
    expect(quotesFor(quoting().state, makerNamed('mia'))[0]).toMatchObject({
      client_reference: 'note-of-mia',
    });
  });

  it('is empty for the originator before the award', () => {
    expect(ids(quoting())).toEqual([]);
    expect(ids(quoting().closes())).toEqual([]);
    expect(ids(quoting().awardsNobody('MINIMUM_NOT_MET'))).toEqual([]);
    expect(ids(quoting().cancelled())).toEqual([]);
  });

  it('has the awarded quotes for the originator after the award, in the order of the awards, without private notes', () => {
    const quotes = quotesFor(quoting().awards({ moe: 4_000_000, mia: 2_000_000 }).state, ORIGINATOR);
    expect(quotes).toMatchObject([
      {
        quote_id: 'quote-of-moe',
        status: 'AWARDED',
        result: { awarded_quantity_atoms: 4_000_000, award_id: 'award-of-moe' },
        market_maker: { id: 'moe', display_name: 'moe Ltd' },
      },
      {
        quote_id: 'second-of-mia',
        status: 'PARTIALLY_AWARDED',
        market_maker: { id: 'mia', display_name: 'mia Ltd' },
      },
    ]);
    expect(JSON.stringify(quotes)).not.toContain('note-of-mia');
  });
});
