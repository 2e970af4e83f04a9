import { describe, expect, it } from '@jest/globals';
import { search } from './campaign/search.js';
import { draw } from './plan/draw.js';
import { simulate } from './simulation.js';

const SEEDS = 10;
/** From different parts of the swarm. */
const REPLAYED = [3, 31];

describe('a simulation', () => {
  it.each(REPLAYED)('gives the same trace for seed %d every time', async (seed) => {
    const [once, again] = [await simulate(draw(seed)), await simulate(draw(seed), { keepsTrace: true })];
    expect([again.digest, again.steps, again.coverage]).toEqual([once.digest, once.steps, once.coverage]);
    expect(again.lines.length).toBeGreaterThan(100);
  });

  it('gives another trace for another seed', async () => {
    const [one, other] = [await simulate(draw(1)), await simulate(draw(2))];
    expect(one.digest).not.toBe(other.digest);
  });

  it(`breaks no promise in ${SEEDS} worlds`, async () => {
    const found: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { violation } = await search(seed);
      if (violation !== undefined) found.push(`seed ${seed}: ${violation.what}`);
    }
    expect(found).toEqual([]);
  }, 120_000);
});
