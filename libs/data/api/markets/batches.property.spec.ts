import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inTurns } from './in-turns.js';
import { byReplyKey, type AskedId } from './reply-keys.js';

const requests = fc.array(
  fc.record({
    id: fc.constantFrom('a', 'b', '1:a', '2:a', '1:1:a', '__proto__'),
    owner: fc.constantFrom(1, 2, 8),
  }),
  { maxLength: 12 },
);
const nameOf = ({ id, owner }: AskedId): string => JSON.stringify([id, owner]);

describe('keys of replies', () => {
  it('are the plain id for the first provider of the request, and name the provider for others', () => {
    const pairs = [
      ...[
        { id: 'x', owner: 8 },
        { id: 'x', owner: 2 },
        { id: 'y', owner: 2 },
        { id: 'x', owner: 8 },
      ],
    ];
    expect([...byReplyKey(pairs).keys()]).toEqual(['x', '2:x', 'y']);
  });

  it('contain each requested item once, and the first owner of an id always has the plain id', () => {
    fc.assert(
      fc.property(requests, (pairs) => {
        const keyed = byReplyKey(pairs);
        expect([...keyed.values()].map(nameOf).sort()).toEqual([...new Set(pairs.map(nameOf))].sort());
        for (const { id } of pairs) {
          expect(keyed.get(id)).toEqual(pairs.find((pair) => pair.id === id));
        }
      }),
    );
  });
});

describe('concurrent work', () => {
  it('never exceeds the limit, returns results in order, and does everything', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 3 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 9 }),
        async (turns, most) => {
          let running = 0;
          let greatest = 0;
          const done = await inTurns(turns, most, async (turn) => {
            running += 1;
            greatest = Math.max(greatest, running);
            for (let at = 0; at <= turn; at += 1) await Promise.resolve();
            running -= 1;
            return turn * 2;
          });
          expect(done).toEqual(turns.map((turn) => turn * 2));
          expect(greatest).toBe(Math.min(most, turns.length));
        },
      ),
    );
  });
});
