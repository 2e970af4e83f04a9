import { describe, expect, it } from '@jest/globals';
import { Random } from '../simulator/kernel/random.js';
import { ALL_KINDS, kindsNamed, wordsForNothing } from './kinds/catalogue.js';
import type { AnsweredCommand } from './load/transcript.js';
import { Deck, longestGap, strikeAtOnce } from './rounds.js';

function answer(shard: number, endedAt: number, status = 200): AnsweredCommand {
  const command = { operation: 'SUBMIT', account: 'a', auctionId: 'x', key: 'k', content: '' } as const;
  return { command, status, body: '', shard, endedAt };
}

describe('the longest gap', () => {
  const everywhere = (at: number): AnsweredCommand[] => [0, 1, 2].map((shard) => answer(shard, at));

  it('is between two settled commands of one shard, however busy the others are', () => {
    const answered = [...everywhere(100), answer(1, 200), answer(2, 220), answer(1, 300), ...everywhere(350)];
    expect(longestGap(answered, 90, 360)).toBe(250);
  });

  it('may be at either end', () => {
    expect(longestGap(everywhere(400), 100, 420)).toBe(300);
    expect(longestGap(everywhere(120), 100, 420)).toBe(300);
  });

  it('is not ended by an answer that settles nothing', () => {
    const answered = [
      ...everywhere(100),
      answer(0, 200, 503),
      answer(0, 210, 429),
      answer(0, 220, 408),
      ...everywhere(300),
    ];
    expect(longestGap(answered, 100, 300)).toBe(200);
  });
});

describe('a deck of faults', () => {
  it('deals every kind once before any comes again, and in the same order for the same seed', () => {
    const deal = (): string[] => {
      const deck = new Deck(ALL_KINDS, new Random('a'));
      const dealt: string[] = [];
      while (dealt.length < ALL_KINDS.length) dealt.push(...deck.deal().map(({ name }) => name));
      return dealt;
    };
    expect(deal()).toEqual(deal());
    expect([...deal()].sort()).toEqual(ALL_KINDS.map(({ name }) => name).sort());
  });

  it('holds the requested kinds', () => {
    expect(kindsNamed(['kill:', 'cut:owner']).map(({ name }) => name)).toEqual([
      'kill:owner',
      'kill:gateway',
      'kill:projector',
      'kill:settler',
      'kill:postgres',
      'kill:broker',
      'kill:broker-unheard',
      'cut:owner-owner',
      'cut:owner-postgres',
      'cut:owner-broker',
    ]);
  });

  it('deals nothing for words that name no kind', () => {
    expect(wordsForNothing(['kill:', 'nosuchkind', 'cut:owner', 'kil:owner'])).toEqual([
      'nosuchkind',
      'kil:owner',
    ]);
    expect(wordsForNothing([])).toEqual([]);
  });
});

describe('faults that strike together', () => {
  it('count as done unless they fail, at once or later', async () => {
    const strikes = new Map([
      ['kill:a', () => Promise.resolve()],
      ['kill:b', () => Promise.reject(new Error('it was gone'))],
      [
        'kill:c',
        () => {
          throw new Error('it does not run');
        },
      ],
    ]);
    expect(await strikeAtOnce(strikes)).toEqual({
      done: ['kill:a'],
      missed: new Map([
        ['kill:b', 'it was gone'],
        ['kill:c', 'it does not run'],
      ]),
    });
  });
});
