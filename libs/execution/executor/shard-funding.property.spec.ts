import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { termsOf } from '#libs/testing/execution/cell-journal.js';
import { neededMove } from './shard-funding.js';

const anyMoney = fc.bigInt({ min: 0n, max: 10n ** 12n });
const anyCase = fc.record({ cost: anyMoney, here: anyMoney, there: anyMoney, may: fc.boolean() });

function moveOf({
  cost,
  here,
  there,
  may,
}: {
  cost: bigint;
  here: bigint;
  there: bigint;
  may: boolean;
}): ReturnType<typeof neededMove> {
  const terms = termsOf({ order_id: '0b', user_id: 'u', shard_funding: may });
  const free = new Map([
    [0, there],
    [1, here],
  ]);
  return neededMove({ ...terms, market: { ...terms.market, shard: 1 } }, cost, free);
}

it('exactly the missing amount is moved, and only if that is allowed and enough', () => {
  fc.assert(
    fc.property(anyCase, (example) => {
      const { cost, here, there, may } = example;
      const move = moveOf(example);
      if (here >= cost) expect(move).toBeUndefined();
      else if (!may) expect(move).toBe('short');
      else if (there < cost - here) expect(move).toBeUndefined();
      else expect(move).toEqual({ from: 0, to: 1, amount: cost - here });
    }),
  );
});
