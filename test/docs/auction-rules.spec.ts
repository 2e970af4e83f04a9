import { describe, expect, it } from '@jest/globals';
import { holdFor } from '#libs/auction/rules/holds.js';
import { averagePrice, owed } from '#libs/base/money.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import type { Allocation, Side } from '#libs/auction/rules/terms.js';
import { auctionView } from '#libs/auction/rules/told/view.js';
import { award, type Contender, type Contest, rank } from '#libs/auction/rules/winner-rule.js';
import { ACCOUNT_LIMITS, QUOTE_PER_AUCTION_LIMIT } from '#libs/auction/protocol/protocol.js';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { cancels, closes, reports } from '#libs/testing/auctions/commands.js';
import { given } from '#libs/testing/auctions/given.js';
import { makerNamed, ORIGINATOR } from '#libs/testing/auctions/story.js';
import { codeIn, rowsWith, type TableRow, textOf } from './markdown.js';

const DOCUMENT = 'docs/understand/auction-rules.md';
const CENT = 10_000;
const CONTRACT = 1_000_000;

function numberIn(cell: string | undefined): number {
  if (cell === undefined || cell === '') throw new Error('a number is missing');
  return Number(cell.replaceAll(',', ''));
}

function wordIn(cell: string | undefined): string {
  return codeIn(cell ?? '')[0] ?? '';
}

function contestOf(row: TableRow): Contest {
  const limit = row.Limit === '' ? {} : { limit_price_atoms: numberIn(row.Limit) * CENT };
  return {
    side: wordIn(row.Side) as Side,
    quantity_atoms: numberIn(row.Size) * CONTRACT,
    ...limit,
    min_fill_quantity_atoms: numberIn(row['Minimum fill']) * CONTRACT,
    allocation: wordIn(row.Allocation) as Allocation,
    max_winners: numberIn(row['Winners at most']),
  };
}

function contenderOf(row: TableRow): Contender {
  return {
    quote_id: row.Quote ?? '',
    price_atoms: numberIn(row.Price) * CENT,
    quantity_atoms: numberIn(row.Size) * CONTRACT,
    min_quantity_atoms: numberIn(row['Own minimum']) * CONTRACT,
    priority: numberIn(row.Came),
  };
}

describe('the worked examples', () => {
  const quotes = rowsWith(DOCUMENT, 'Example', 'Quote');
  const contests = rowsWith(DOCUMENT, 'Example', 'Allocation');

  it('cover both sides and both allocations', () => {
    expect(new Set(contests.map((row) => wordIn(row.Side)))).toEqual(new Set(['BUY', 'SELL']));
    expect(new Set(contests.map((row) => wordIn(row.Allocation)))).toEqual(
      new Set(['SINGLE_WINNER', 'SPLIT']),
    );
  });

  it.each(contests.map((row) => [row.Example ?? '', row] as const))(
    '%s gives the stated result',
    (name, row) => {
      const own = quotes.filter(({ Example: example }) => example === name);
      expect(own.length).toBeGreaterThan(1);
      const contest = contestOf(row);
      const ranked = rank(contest, own.map(contenderOf));
      const fills = award(contest, ranked);
      const told = own.map(({ Quote: quote = '' }) => {
        const place = ranked.findIndex((one) => one.quote_id === quote) + 1;
        const fill = fills.find((one) => one.quote.quote_id === quote);
        return [quote, place === 0 ? '' : String(place), String((fill?.quantity_atoms ?? 0) / CONTRACT)];
      });
      expect(told).toEqual(own.map(({ Quote, Rank, Awarded }) => [Quote, Rank, Awarded]));
    },
  );
});

describe('money', () => {
  it.each(rowsWith(DOCUMENT, 'Price', 'Quantity', 'Costs').map((row) => [row]))('%j', (row) => {
    expect(owed(numberIn(row.Price), numberIn(row.Quantity))).toBe(numberIn(row.Costs));
  });

  it('is averaged by rounding half up', () => {
    const fills = [410_000, 410_001].map((price) => ({ price, quantity: CONTRACT }));
    expect(averagePrice(fills)).toBe(410_001);
  });

  it('is reserved as the example says', () => {
    const route = { venue: 'venue_a', contract_id: 'rain', outcome: 'YES' };
    const size = { price_atoms: 43 * CENT, quantity_atoms: 10 * CONTRACT, parts: 1 };
    const holds = holdFor({ side: 'SELL', routes: [route], ...size }, () => 4 * CONTRACT);
    const told = rowsWith(DOCUMENT, 'Resource', 'Set aside').map((row) => {
      return [wordIn(row.Resource), numberIn(row['Set aside'])];
    });
    expect(holds.map(({ resource, amount }) => [resource, amount])).toEqual(told);
  });
});

describe('the limits', () => {
  it('are those of the buckets', () => {
    const told = rowsWith(DOCUMENT, 'Bucket', 'Burst').map((row) => [
      wordIn(row.Bucket),
      { rate_per_second: numberIn(row['A second']), burst: numberIn(row.Burst) },
    ]);
    expect(Object.fromEntries(told)).toEqual({
      ...ACCOUNT_LIMITS,
      quote_per_auction: QUOTE_PER_AUCTION_LIMIT,
    });
  });
});

describe('who sees what', () => {
  const opened = given(anOpenAuction());
  const quoted = opened.and(aQuote('mia', { price_atoms: 400_000 })).and(aQuote('max'));
  const awarded = quoted.and(closes());
  const settled = ['mia', 'max'].reduce((told, maker, index) => {
    const report = { award_id: `award-of-quote-of-${maker}`, step: 'CONFIRMED', attempt: 1 } as const;
    return told.and(reports(report, at(61_000 + index)));
  }, awarded);
  const moments = [opened, quoted, opened.and(cancels()), awarded, settled].map(({ state }) => state);

  it('is what the views contain, field by field', () => {
    const rows = rowsWith(DOCUMENT, 'Field', 'Originator', 'Maker');
    const told = (column: string): string[] =>
      rows.flatMap((row) => (row[column] === '' ? [] : codeIn(row.Field ?? ''))).sort();
    const fields = (seen: (state: AuctionState) => object): string[] =>
      [...new Set(moments.flatMap((state) => Object.keys(seen(state))))].sort();
    expect(settled.state.status).toBe('SETTLED');
    expect(fields((state) => auctionView(state, ORIGINATOR))).toEqual(told('Originator'));
    expect(fields((state) => auctionView(state, makerNamed('mia')))).toEqual(told('Maker'));
  });

  it('names every kind of timeline entry once', () => {
    const source = textOf('libs/auction/rules/told/timeline-entry.ts');
    const kinds = new Set(
      [...source.matchAll(/'((?:AUCTION|QUOTE|INVITATION|EXECUTION)_\w+)'/g)].map(([, kind]) => kind),
    );
    const told = rowsWith(DOCUMENT, 'Entry of the timeline').flatMap((row) =>
      codeIn(row['Entry of the timeline'] ?? ''),
    );
    expect(told.sort()).toEqual([...kinds].sort());
  });
});
