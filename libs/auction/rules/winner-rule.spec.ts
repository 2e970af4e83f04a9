import { describe, expect, it } from '@jest/globals';
import { award, rank, type Contender, type Contest } from './winner-rule.js';

const ladder: Contest = {
  side: 'BUY',
  quantity_atoms: 10,
  min_fill_quantity_atoms: 1,
  allocation: 'SPLIT',
  max_winners: 3,
};
const single: Contest = { ...ladder, allocation: 'SINGLE_WINNER', max_winners: 1 };

/** Price, quantity and smallest fill. The index in the list is the priority. */
type Row = [price: number, quantity: number, min?: number];

function contenders(rows: readonly Row[]): Contender[] {
  return rows.map(([price, quantity, min = 1], index) => ({
    quote_id: `${index}`,
    price_atoms: price,
    quantity_atoms: quantity,
    min_quantity_atoms: min,
    priority: index,
  }));
}

function order(contest: Contest, rows: readonly Row[]): string[] {
  return rank(contest, contenders(rows)).map((quote) => quote.quote_id);
}

function wins(contest: Contest, rows: readonly Row[]): [string, number][] {
  return award(contest, rank(contest, contenders(rows))).map(({ quote, quantity_atoms }) => [
    quote.quote_id,
    quantity_atoms,
  ]);
}

describe('the ranking', () => {
  it('puts the best price first, and the earlier quote among equal prices', () => {
    const rows: Row[] = [
      [5, 1],
      [3, 1],
      [5, 9],
      [3, 9],
    ];
    expect(order(ladder, rows)).toEqual(['1', '3', '0', '2']);
    expect(order({ ...ladder, side: 'SELL' }, rows)).toEqual(['0', '2', '1', '3']);
  });

  it('follows the priorities, not the order of the list', () => {
    const [first, second] = contenders([
      [5, 1],
      [5, 1],
    ]);
    expect(rank(ladder, [second!, first!])).toEqual([first, second]);
  });

  it('leaves out quotes worse than the limit and keeps those equal to it', () => {
    const rows: Row[] = [
      [4, 1],
      [5, 1],
      [6, 1],
    ];
    expect(order({ ...ladder, limit_price_atoms: 5 }, rows)).toEqual(['0', '1']);
    expect(order({ ...ladder, side: 'SELL', limit_price_atoms: 5 }, rows)).toEqual(['2', '1']);
  });

  it('does not change the list it is given', () => {
    const list = Object.freeze(
      contenders([
        [5, 1],
        [3, 1],
      ]),
    );
    expect(() => rank(ladder, list)).not.toThrow();
  });
});

describe('a single winner', () => {
  it.each<[string, Partial<Contest>, Row[], [string, number][]]>([
    [
      'is the best quote',
      {},
      [
        [5, 4],
        [4, 3],
      ],
      [['1', 3]],
    ],
    [
      'is the best quote that reaches the minimum fill',
      { min_fill_quantity_atoms: 4 },
      [
        [5, 4],
        [4, 3],
      ],
      [['0', 4]],
    ],
    ['gets all of its quantity and no more', {}, [[5, 10]], [['0', 10]]],
    [
      'does not exist when no quote alone reaches the minimum fill',
      { min_fill_quantity_atoms: 5 },
      [
        [5, 4],
        [4, 4],
      ],
      [],
    ],
    ['does not exist without quotes', {}, [], []],
  ])('%s', (_what, different, rows, winners) => {
    expect(wins({ ...single, ...different }, rows)).toEqual(winners);
  });
});

describe('a split', () => {
  it.each<[string, Partial<Contest>, Row[], [string, number][]]>([
    [
      'fills from the best price on',
      {},
      [
        [3, 4],
        [4, 4],
        [5, 4],
      ],
      [
        ['0', 4],
        ['1', 4],
        ['2', 2],
      ],
    ],
    [
      'ends when nothing is left',
      {},
      [
        [3, 10],
        [4, 4],
      ],
      [['0', 10]],
    ],
    [
      'skips a quote whose minimum exceeds the remainder, and goes on',
      {},
      [
        [3, 8],
        [4, 4, 3],
        [5, 1],
      ],
      [
        ['0', 8],
        ['2', 1],
      ],
    ],
    [
      'gives the remainder to a quote whose minimum just fits',
      {},
      [
        [3, 8],
        [4, 4, 2],
      ],
      [
        ['0', 8],
        ['1', 2],
      ],
    ],
    [
      'ends at the maximum number of winners',
      { max_winners: 2 },
      [
        [3, 1],
        [4, 1],
        [5, 9],
      ],
      [
        ['0', 1],
        ['1', 1],
      ],
    ],
    [
      'does not count skipped quotes as winners',
      { max_winners: 2 },
      [
        [3, 9],
        [4, 4, 2],
        [5, 1],
      ],
      [
        ['0', 9],
        ['2', 1],
      ],
    ],
    [
      'reaches the minimum fill exactly',
      { min_fill_quantity_atoms: 8 },
      [
        [3, 4],
        [4, 4],
      ],
      [
        ['0', 4],
        ['1', 4],
      ],
    ],
    [
      'has no winner below the minimum fill',
      { min_fill_quantity_atoms: 9 },
      [
        [3, 4],
        [4, 4],
      ],
      [],
    ],
    [
      'has no winner below the minimum fill, even where other winners would have reached it',
      { min_fill_quantity_atoms: 10, max_winners: 2 },
      [
        [3, 1],
        [4, 5],
        [5, 5],
      ],
      [],
    ],
    [
      'ignores quotes beyond the limit',
      { limit_price_atoms: 4 },
      [
        [3, 4],
        [5, 6],
      ],
      [['0', 4]],
    ],
    ['has no winner without quotes', {}, [], []],
  ])('%s', (_what, different, rows, winners) => {
    expect(wins({ ...ladder, ...different }, rows)).toEqual(winners);
  });
});
