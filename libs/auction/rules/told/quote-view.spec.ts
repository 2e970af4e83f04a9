import { describe, expect, it } from '@jest/globals';
import { AuctionStory, CLOSES_AT, storyTerms } from '#libs/testing/auctions/story.js';
import { quoteView, type QuoteView } from './quote-view.js';
import { bookOf } from '../state.js';
import type { Terms } from '../terms.js';

/** Mia is best, Moe second, Max third; May is beyond the limit. The order is the same for buyers and sellers. */
function story(different: Partial<Terms> = {}): AuctionStory {
  const buys = (different.side ?? 'BUY') === 'BUY';
  const worse = (by: number) => ({ price_atoms: 500_000 + (buys ? by : -by) });
  return new AuctionStory(storyTerms({ limit_price_atoms: buys ? 700_000 : 300_000, ...different }))
    .submits('may', worse(210_000))
    .submits('max', worse(60_000))
    .submits('moe', worse(20_000))
    .submits('mia', worse(0));
}

function quoteOf(auction: AuctionStory, maker: string): QuoteView {
  const quote = bookOf(auction.state, maker)?.quotes.at(-1);
  if (quote === undefined) throw new Error(`${maker} has no quote`);
  return quoteView(auction.state, quote);
}

const FIELDS = [
  'quote_id',
  'auction_id',
  'revision',
  'status',
  'price_atoms',
  'quantity_atoms',
  'min_quantity_atoms',
];

describe('a quote as its maker sees it', () => {
  it('has every field that applies, in a fixed order', () => {
    const bare = story();
    expect(Object.keys(quoteOf(bare, 'mia'))).toEqual([...FIELDS, 'submitted_at', 'updated_at']);
    const full = new AuctionStory()
      .submits('mia', { expires_at: CLOSES_AT, client_reference: 'note-of-mia' })
      .withdraws('mia');
    const optional = ['expires_at', 'client_reference', 'submitted_at', 'updated_at', 'withdrawn_by'];
    expect(Object.keys(quoteOf(full, 'mia'))).toEqual([...FIELDS, ...optional]);
  });

  it.each(['MARKET_MAKER', 'DISCONNECT', 'PROTECTION', 'OPERATOR'] as const)(
    'shows that it was withdrawn by %s',
    (by) => {
      expect(quoteOf(story().withdraws('mia', by), 'mia')).toMatchObject({
        status: 'WITHDRAWN',
        withdrawn_by: by,
      });
    },
  );

  it('shows a revision', () => {
    const before = quoteOf(story(), 'mia');
    const after = quoteOf(story().revises('mia', { price_atoms: 490_000 }), 'mia');
    expect(after).toMatchObject({ revision: 2, price_atoms: 490_000, submitted_at: before.submitted_at });
    expect(after.updated_at > before.updated_at).toBe(true);
  });

  it('has no result before the decision, even after the close', () => {
    expect(quoteOf(story(), 'mia')).not.toHaveProperty('result');
    expect(quoteOf(story().closes(), 'mia')).not.toHaveProperty('result');
  });

  it('has no result if it was not active at the close', () => {
    const auction = story({ result_disclosure: 'WINNING_PRICE_AND_RANK' })
      .withdraws('max')
      .awards({ mia: 4_000_000 });
    expect(quoteOf(auction, 'max')).not.toHaveProperty('result');
  });
});

describe('the result of a winner', () => {
  it.each(['OWN_RESULT', 'WINNING_PRICE', 'WINNING_PRICE_AND_RANK'] as const)(
    'is its award under %s',
    (disclosure) => {
      const auction = story({ result_disclosure: disclosure }).awards({ mia: 4_000_000, moe: 1_000_000 });
      const result = { awarded_quantity_atoms: 1_000_000, award_id: 'award-of-moe' };
      expect(quoteOf(auction, 'moe')).toMatchObject({ status: 'PARTIALLY_AWARDED' });
      expect(quoteOf(auction, 'moe').result).toEqual(result);
      expect(quoteOf(auction.executes('moe', 'CONFIRMED'), 'moe').status).toBe('SETTLED');
      expect(quoteOf(auction, 'moe').result).toEqual(result);
    },
  );
});

describe('the result of a loser', () => {
  const lost = { awarded_quantity_atoms: 0, reason: 'NOT_SELECTED' };
  const none = { awarded_quantity_atoms: 0, reason: 'NO_AWARD' };

  it.each([
    ['BUY', 'OWN_RESULT', lost],
    ['BUY', 'WINNING_PRICE', { ...lost, winning_price_atoms: 520_000 }],
    ['BUY', 'WINNING_PRICE_AND_RANK', { ...lost, rank: 3, winning_price_atoms: 520_000 }],
    ['SELL', 'WINNING_PRICE', { ...lost, winning_price_atoms: 480_000 }],
    ['SELL', 'WINNING_PRICE_AND_RANK', { ...lost, rank: 3, winning_price_atoms: 480_000 }],
  ] as const)('%s, %s: shows the worst winning price', (side, result_disclosure, result) => {
    const auction = story({ side, result_disclosure }).awards({ mia: 4_000_000, moe: 4_000_000 });
    expect(quoteOf(auction, 'max').result).toEqual(result);
    expect(quoteOf(auction, 'max')).toMatchObject({ status: 'NOT_AWARDED', updated_at: CLOSES_AT });
  });

  it('has no rank if the quote did not count', () => {
    const auction = story({ result_disclosure: 'WINNING_PRICE_AND_RANK' }).awards({ mia: 4_000_000 });
    expect(quoteOf(auction, 'may').result).toEqual({ ...lost, winning_price_atoms: 500_000 });
  });

  it.each([
    ['OWN_RESULT', none],
    ['WINNING_PRICE', none],
    ['WINNING_PRICE_AND_RANK', { ...none, rank: 3 }],
  ] as const)('has no winning price if no quote won: %s', (result_disclosure, result) => {
    expect(quoteOf(story({ result_disclosure }).awardsNobody('MINIMUM_NOT_MET'), 'max').result).toEqual(
      result,
    );
  });
});
