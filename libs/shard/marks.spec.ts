import { describe, expect, it } from '@jest/globals';
import { collidingKeys } from '#libs/testing/shards/colliding-keys.js';
import { Marks, type CommandName } from './marks.js';

const MIA: CommandName = { operation: 'SUBMIT', account_id: 'mia', key: 'k1' };
const [FIRST, SECOND] = collidingKeys(MIA);
const ONE: CommandName = { ...MIA, key: FIRST };
const TWO: CommandName = { ...MIA, key: SECOND };

describe('marks', () => {
  it('tell where the answer to a command stands, and of nothing else', () => {
    const marks = new Marks();
    marks.note(MIA, 7);
    expect(marks.find(MIA)).toEqual([7]);
    expect(marks.find({ ...MIA, key: 'k2' })).toEqual([]);
    expect(marks.find({ ...MIA, operation: 'REVISE' })).toEqual([]);
    expect(marks.find({ ...MIA, account_id: 'miak', key: '1' })).toEqual([]);
  });

  it('lose none of two commands that look alike', () => {
    const marks = new Marks();
    marks.note(ONE, 3);
    marks.note(TWO, 9);
    expect(ONE).not.toEqual(TWO);
    expect(marks.find(ONE)).toEqual([3, 9]);
    expect(marks.find(TWO)).toEqual([3, 9]);
  });

  it('come out of a snapshot as they were at its moment', () => {
    const marks = new Marks();
    for (const [name, at] of [
      [ONE, 3],
      [TWO, 9],
      [MIA, 12],
    ] as const)
      marks.note(name, at);
    expect(new Marks(marks.upTo(12)).find(ONE)).toEqual([3, 9]);
    const earlier = new Marks(marks.upTo(8));
    expect([earlier.find(TWO), earlier.find(MIA)]).toEqual([[3], []]);
  });
});
