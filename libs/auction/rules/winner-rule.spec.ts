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

/** Price, quantity and smallest fill; the place in the list is the priority. */
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

describe('the order', () => {
  it('is the best price first, the earlier among equals', () => {
    const rows: Row[] = [
      [5, 1],
      [3, 1],
      [5, 9],
      [3, 9],
    ];
    expect(order(ladder, rows)).toEqual(['1', '3', '0', '2']);
    expect(order({ ...ladder, side: 'SELL' }, rows)).toEqual(['0', '2', '1', '3']);
  });

  it('is that of the priorities, not of the list', () => {
    const [first, second] = contenders([
      [5, 1],
      [5, 1],
    ]);
    expect(rank(ladder, [second!, first!])).toEqual([first, second]);
  });

  it('leaves out what is worse than the reserve, and keeps what equals it', () => {
    const rows: Row[] = [
      [4, 1],
      [5, 1],
      [6, 1],
    ];
    expect(order({ ...ladder, limit_price_atoms: 5 }, rows)).toEqual(['0', '1']);
    expect(order({ ...ladder, side: 'SELL', limit_price_atoms: 5 }, rows)).toEqual(['2', '1']);
  });

  it('does not touch the list that it was given', () => {
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
      'is the first',
      {},
      [
        [5, 4],
        [4, 3],
      ],
      [['1', 3]],
    ],
    [
      'is the first that reaches the minimum fill',
      { min_fill_quantity_atoms: 4 },
      [
        [5, 4],
        [4, 3],
      ],
      [['0', 4]],
    ],
    ['takes all of its quantity and no more', {}, [[5, 10]], [['0', 10]]],
    [
      'there is none below the minimum fill, for quotes do not add up',
      { min_fill_quantity_atoms: 5 },
      [
        [5, 4],
        [4, 4],
      ],
      [],
    ],
    ['there is none without quotes', {}, [], []],
  ])('%s', (_what, different, rows, winners) => {
    expect(wins({ ...single, ...different }, rows)).toEqual(winners);
  });
});

describe('a split', () => {
  it.each<[string, Partial<Contest>, Row[], [string, number][]]>([
    [
      'goes down the ladder',
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
      'skips whose minimum exceeds the rest, and goes on',
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
      'gives the rest to whose minimum just fits',
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
      'ends at the most winners',
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
      'skipped quotes are no winners',
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
      'or nobody wins',
      { min_fill_quantity_atoms: 9 },
      [
        [3, 4],
        [4, 4],
      ],
      [],
    ],
    [
      'or nobody wins, even where another choice would have reached it',
      { min_fill_quantity_atoms: 10, max_winners: 2 },
      [
        [3, 1],
        [4, 5],
        [5, 5],
      ],
      [],
    ],
    [
      'counts nothing beyond the reserve',
      { limit_price_atoms: 4 },
      [
        [3, 4],
        [5, 6],
      ],
      [['0', 4]],
    ],
    ['there is none without quotes', {}, [], []],
  ])('%s', (_what, different, rows, winners) => {
    expect(wins({ ...ladder, ...different }, rows)).toEqual(winners);
  });
});
