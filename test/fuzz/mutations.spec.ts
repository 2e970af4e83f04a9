import { describe, expect, it } from '@jest/globals';
import { Random } from '../simulator/kernel/random.js';
import { mutatedBytes, mutatedJson, mutatedText } from './mutations.js';

const BODY = { price_atoms: 500_000, audience: { market_maker_ids: ['x'] }, side: 'BUY' };
const MANY = Array.from({ length: 400 }, (_, index) => index);

describe.each([
  ['JSON', (random: Random) => mutatedJson(BODY, random).toString('latin1')],
  ['bytes', (random: Random) => mutatedBytes(Buffer.from(JSON.stringify(BODY)), random).toString('latin1')],
  ['a text', (random: Random) => mutatedText('eyJvIjoiMjAyNiJ9', random)],
] as const)('what becomes of %s', (_, mutate) => {
  it('follows from the seed', () => {
    for (const seed of MANY) expect(mutate(new Random(`${seed}`))).toBe(mutate(new Random(`${seed}`)));
  });

  it('is many things', () => {
    expect(new Set(MANY.map((seed) => mutate(new Random(`${seed}`)))).size).toBeGreaterThan(30);
  });
});

it('is seldom what was there before', () => {
  const same = MANY.filter(
    (seed) => mutatedJson(BODY, new Random(`${seed}`)).toString() === JSON.stringify(BODY),
  );
  expect(same.length).toBeLessThan(MANY.length / 10);
});
