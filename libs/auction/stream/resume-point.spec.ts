import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NO_SHARD, resumePoints, type ResumePoint, type SubscriptionMark } from './resume-point.js';

const uuid = fc.uuid();
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const small = fc.nat({ max: 2 ** 32 - 1 });

const mark: fc.Arbitrary<SubscriptionMark> = fc
  .record({
    number: small,
    channel: fc.constantFrom('auctions', 'auction'),
    auctionId: uuid,
    base: count,
    sent: small,
    isComplete: fc.boolean(),
    isOver: fc.boolean(),
    told: fc.option(small, { nil: undefined }),
  })
  // A subscription to all auctions has no earlier entries to send. One that is still being sent them counts no
  // events after `base`.
  .map((one) => (one.channel === 'auction' ? one : { ...one, auctionId: undefined, told: undefined }))
  .map((one) => (one.told === undefined ? one : { ...one, sent: 0 }));

function pointWith(marks: fc.Arbitrary<SubscriptionMark[]>): fc.Arbitrary<ResumePoint> {
  return fc.record({
    connectionId: uuid,
    attachment: count,
    positions: fc.array(count, { minLength: 3, maxLength: 3 }),
    tokenlessShard: fc.constantFrom(0, 1, 2, NO_SHARD),
    nextNumber: small,
    subscriptions: marks,
  });
}

const anyPoint = pointWith(fc.array(mark, { maxLength: 64, size: 'max' }));

it('a resume point is decoded exactly as it was encoded', () => {
  fc.assert(
    fc.property(anyPoint, (point) => {
      expect(resumePoints.decode(resumePoints.encode(point))).toEqual(point);
    }),
  );
});

it('the length of a resume point depends only on its number of subscriptions', () => {
  const lengths = new Map<number, Set<number>>();
  fc.assert(
    fc.property(anyPoint, (point) => {
      const steps = Math.ceil(point.subscriptions.length / 8);
      const seen = lengths.get(steps) ?? new Set();
      lengths.set(steps, seen.add(resumePoints.encode(point).length));
    }),
    { numRuns: 300 },
  );
  for (const seen of lengths.values()) expect(seen.size).toBe(1);
  expect(lengths.size).toBeGreaterThan(3);
});
