import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  available,
  fullBucket,
  perSecond,
  slowed,
  take,
  type BucketRule,
  type BucketState,
} from './token-bucket.js';

const SECOND = 1_000_000_000n;
const rules = fc
  .record({
    rate: fc.integer({ min: 1, max: 200 }),
    burst: fc.integer({ min: 1, max: 500 }),
    divisor: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ rate, burst, divisor }) => slowed(perSecond(rate, burst), divisor));
const gaps = fc.array(
  fc.record({ gap: fc.bigInt({ min: 0n, max: 2n * SECOND }), count: fc.integer({ min: 0, max: 5 }) }),
  { minLength: 1, maxLength: 200 },
);

function accepted(rule: BucketRule, from: BucketState, times: readonly bigint[]): number {
  let state = from;
  let count = 0;
  for (const now of times) {
    const answer = take(rule, state, 1, now);
    state = answer.state;
    if (answer.taken) count += 1;
  }
  return count;
}

describe('token bucket', () => {
  it('allows a burst and refuses the next call', () => {
    const rule = perSecond(2, 4);
    expect(accepted(rule, fullBucket(rule, 0n), Array<bigint>(5).fill(0n))).toBe(4);
  });

  it('has the next token exactly when it is due, and not a nanosecond earlier', () => {
    const rule = perSecond(3, 1);
    const { state } = take(rule, fullBucket(rule, 0n), 1, 0n);
    expect(take(rule, state, 1, 333_333_333n).taken).toBe(false);
    expect(take(rule, state, 1, 333_333_334n).taken).toBe(true);
  });

  it('refills a third of two tokens a second without rounding', () => {
    const rule = slowed(perSecond(2, 4), 3);
    const { state } = take(rule, fullBucket(rule, 0n), 4, 0n);
    expect(take(rule, state, 2, 3n * SECOND - 1n).taken).toBe(false);
    expect(take(rule, state, 2, 3n * SECOND).taken).toBe(true);
  });

  it('takes all tokens of a call or none', () => {
    const rule = perSecond(1, 4);
    const refused = take(rule, fullBucket(rule, 0n), 5, 0n);
    expect(refused.taken).toBe(false);
    expect(available(rule, refused.state, 0n)).toBe(4);
  });

  it('never allows more than the burst and the refill in any period', () => {
    fc.assert(
      fc.property(rules, gaps, (rule, schedule) => {
        let now = 0n;
        let state = fullBucket(rule, now);
        const taken: { at: bigint; count: bigint }[] = [];
        for (const { gap, count } of schedule) {
          now += gap;
          const answer = take(rule, state, count, now);
          state = answer.state;
          if (answer.taken) taken.push({ at: now, count: BigInt(count) });
        }
        for (const [index, first] of taken.entries()) {
          let sum = 0n;
          for (const one of taken.slice(index)) {
            sum += one.count;
            expect(sum * rule.perNanos).toBeLessThanOrEqual(
              rule.burst * rule.perNanos + (one.at - first.at) * rule.tokens,
            );
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('never refuses a caller that stays within the rate', () => {
    fc.assert(
      fc.property(
        rules,
        fc.array(fc.bigInt({ min: 0n, max: SECOND }), { maxLength: 300 }),
        (rule, delays) => {
          const period = (rule.perNanos + rule.tokens - 1n) / rule.tokens;
          let now = 0n;
          const times = delays.map((delay) => (now += period + delay));
          expect(accepted(rule, { level: 0n, at: 0n }, times)).toBe(times.length);
        },
      ),
    );
  });

  it('loses no tokens by refusals', () => {
    fc.assert(
      fc.property(
        rules,
        fc.array(fc.bigInt({ min: 0n, max: SECOND }), { maxLength: 50 }),
        (rule, refusedAt) => {
          const { state } = take(rule, fullBucket(rule, 0n), Number(rule.burst), 0n);
          let afterRefusals = state;
          for (const now of [...refusedAt].sort((a, b) => Number(a - b))) {
            afterRefusals = take(rule, afterRefusals, Number(rule.burst) + 1, now).state;
          }
          expect(available(rule, afterRefusals, SECOND)).toBe(available(rule, state, SECOND));
        },
      ),
    );
  });

  it('gains no tokens when the clock goes back and forward again', () => {
    fc.assert(
      fc.property(
        rules,
        fc.array(fc.bigInt({ min: 0n, max: 5n * SECOND }), { maxLength: 100 }),
        (rule, times) => {
          const latest = times.reduce((a, b) => (a > b ? a : b), 0n);
          const most = rule.burst + (latest * rule.tokens) / rule.perNanos;
          expect(BigInt(accepted(rule, fullBucket(rule, 0n), times))).toBeLessThanOrEqual(most);
        },
      ),
    );
  });

  it('loses no tokens when the clock goes back', () => {
    const rule = perSecond(2, 4);
    expect(accepted(rule, fullBucket(rule, 100n * SECOND), Array<bigint>(5).fill(0n))).toBe(4);
  });

  it('reports whole tokens, never more than the burst', () => {
    const rule = perSecond(2, 4);
    const { state } = take(rule, fullBucket(rule, 0n), 4, 0n);
    expect(
      [0n, SECOND / 2n - 1n, SECOND / 2n, 100n * SECOND].map((now) => available(rule, state, now)),
    ).toEqual([0, 0, 1, 4]);
  });
});
