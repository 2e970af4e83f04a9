import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { award, rank, type Contender, type Contest } from './winner-rule.js';

/*
 * The oracle does not walk down a ranking. A single winner is a quote that may win while no better one may. For a split
 * it tries every division of the quantity, and takes the one that gives the best quote the most, then the second best.
 */

const MOST = 5;

const contenders: fc.Arbitrary<Contender[]> = fc
  .array(
    fc.record({
      price_atoms: fc.integer({ min: 1, max: 3 }),
      quantity_atoms: fc.integer({ min: 1, max: MOST }),
      min_quantity_atoms: fc.integer({ min: 1, max: MOST }),
    }),
    { maxLength: 5, size: 'max' },
  )
  .chain((quotes) =>
    fc
      .shuffledSubarray(
        quotes.map((_quote, index) => index * 3 + 1),
        { minLength: quotes.length },
      )
      .map((priorities) =>
        quotes.map((quote, index) => ({
          ...quote,
          min_quantity_atoms: Math.min(quote.min_quantity_atoms, quote.quantity_atoms),
          priority: priorities[index]!,
          quote_id: `q${index}`,
        })),
      ),
  );

const contests: fc.Arbitrary<Contest> = fc
  .record({
    side: fc.constantFrom('BUY' as const, 'SELL' as const),
    quantity_atoms: fc.integer({ min: 1, max: MOST }),
    limit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    fill: fc.integer({ min: 1, max: MOST }),
    allocation: fc.constantFrom('SPLIT' as const, 'SINGLE_WINNER' as const),
    max_winners: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ limit, fill, ...contest }) => ({
    ...contest,
    min_fill_quantity_atoms: Math.min(fill, contest.quantity_atoms),
    ...(limit === undefined ? {} : { limit_price_atoms: limit }),
  }));

/** No quote is larger than its auction; the rules refuse it at submission. */
const cases = fc.tuple(contests, contenders).map(([contest, quotes]) => {
  const fitting = quotes.filter((quote) => quote.quantity_atoms <= contest.quantity_atoms);
  return [contest, fitting] as const;
});

function beats(contest: Contest, one: Contender, other: Contender): boolean {
  if (one.price_atoms !== other.price_atoms) {
    return contest.side === 'BUY' ? one.price_atoms < other.price_atoms : one.price_atoms > other.price_atoms;
  }
  return one.priority < other.priority;
}

function counts({ side, limit_price_atoms: limit }: Contest, quote: Contender): boolean {
  if (limit === undefined) return true;
  return side === 'BUY' ? quote.price_atoms <= limit : quote.price_atoms >= limit;
}

function oracle(contest: Contest, quotes: readonly Contender[]): Map<string, number> {
  const counted = quotes.filter((quote) => counts(contest, quote));
  const won = contest.allocation === 'SPLIT' ? bestDivision(contest, counted) : onlyWinner(contest, counted);
  const sum = [...won.values()].reduce((total, quantity) => total + quantity, 0);
  return sum < contest.min_fill_quantity_atoms ? new Map<string, number>() : won;
}

function onlyWinner(contest: Contest, counted: readonly Contender[]): Map<string, number> {
  const able = counted.filter((quote) => quote.quantity_atoms >= contest.min_fill_quantity_atoms);
  const winners = able.filter((quote) => !able.some((other) => beats(contest, other, quote)));
  return new Map(winners.map((quote) => [quote.quote_id, quote.quantity_atoms]));
}

function bestDivision(contest: Contest, counted: readonly Contender[]): Map<string, number> {
  // The index of a quote is the number of quotes that beat it.
  const byRank = counted.map((_none, index) =>
    counted.find((quote) => counted.filter((other) => beats(contest, other, quote)).length === index)!,
  );
  let best: readonly number[] = byRank.map(() => 0);
  for (const division of divisions(byRank)) {
    const sum = division.reduce((total, quantity) => total + quantity, 0);
    const winners = division.filter((quantity) => quantity > 0).length;
    if (sum <= contest.quantity_atoms && winners <= contest.max_winners && exceeds(division, best))
      best = division;
  }
  const won = byRank.map((quote, index): [string, number] => [quote.quote_id, best[index]!]);
  return new Map(won.filter(([, quantity]) => quantity > 0));
}

function* divisions([first, ...rest]: readonly Contender[]): Generator<readonly number[]> {
  if (first === undefined) {
    yield [];
    return;
  }
  for (let quantity = 0; quantity <= first.quantity_atoms; quantity += 1) {
    if (quantity > 0 && quantity < Math.min(first.min_quantity_atoms, first.quantity_atoms)) continue;
    for (const others of divisions(rest)) yield [quantity, ...others];
  }
}

function exceeds(one: readonly number[], other: readonly number[]): boolean {
  const index = one.findIndex((quantity, position) => quantity !== other[position]);
  return index >= 0 && one[index]! > other[index]!;
}

it('the winners equal those of the oracle', () => {
  fc.assert(
    fc.property(cases, ([contest, quotes]) => {
      const fills = award(contest, rank(contest, quotes));
      const won = fills.map(({ quote, quantity_atoms }) => [quote.quote_id, quantity_atoms] as const);
      expect(new Map(won)).toEqual(oracle(contest, quotes));
    }),
    { numRuns: 2_000 },
  );
});

it('the ranking equals that of the oracle, in whatever order the quotes are listed', () => {
  fc.assert(
    fc.property(cases, ([contest, quotes]) => {
      const ranked = rank(contest, quotes);
      expect(rank(contest, [...quotes].reverse())).toEqual(ranked);
      expect(ranked).toHaveLength(quotes.filter((quote) => counts(contest, quote)).length);
      ranked.forEach((quote, place) => {
        expect(ranked.slice(place + 1).every((other) => beats(contest, quote, other))).toBe(true);
      });
    }),
  );
});

it('the awards stay within the auction, the quotes and the number of winners', () => {
  fc.assert(
    fc.property(cases, ([contest, quotes]) => {
      const fills = award(contest, rank(contest, quotes));
      const sum = fills.reduce((total, fill) => total + fill.quantity_atoms, 0);
      expect(sum).toBeLessThanOrEqual(contest.quantity_atoms);
      if (fills.length > 0) expect(sum).toBeGreaterThanOrEqual(contest.min_fill_quantity_atoms);
      expect(fills.length).toBeLessThanOrEqual(contest.allocation === 'SPLIT' ? contest.max_winners : 1);
      expect(new Set(fills.map((fill) => fill.quote)).size).toBe(fills.length);
      for (const { quote, quantity_atoms } of fills) {
        expect(counts(contest, quote)).toBe(true);
        expect(quantity_atoms).toBeLessThanOrEqual(quote.quantity_atoms);
        expect(quantity_atoms).toBeGreaterThanOrEqual(quote.min_quantity_atoms);
      }
    }),
  );
});
