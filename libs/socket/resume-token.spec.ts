import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JournalLife } from '#libs/journal/life/journal-life.js';
import { NO_LANE, type ResumePoint, type SubscriptionMark } from '#libs/auction/stream/resume-point.js';
import { ResumeTokens } from './resume-token.js';

const OLD_KEY = 'aa'.repeat(32);
const NEW_KEY = 'bb'.repeat(32);
const DAY = 86_400_000;
const NOW = 1_790_000_000_000;
const FIRST: JournalLife = { id: '2f1c8a90-5b7d-4e63-8a11-9d4f0c6b7e20' };
const RESTORED: JournalLife = { id: 'c4e0b7d6-1f28-4a59-b3c7-6e5d8f9a0b14' };
const ACCOUNT = '5f0c6d1e-0000-4000-8000-000000000001';

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
  // Of all auctions nothing is told from before, and what is counts nothing behind its base.
  .map((one) => (one.channel === 'auction' ? one : { ...one, auctionId: undefined, told: undefined }))
  .map((one) => (one.told === undefined ? one : { ...one, sent: 0 }));

function pointWith(marks: fc.Arbitrary<SubscriptionMark[]>): fc.Arbitrary<ResumePoint> {
  return fc.record({
    connectionId: uuid,
    attachment: count,
    positions: fc.array(count, { minLength: 3, maxLength: 3 }),
    lane: fc.constantFrom(0, 1, 2, NO_LANE),
    nextNumber: small,
    subscriptions: marks,
  });
}

const anyPoint = pointWith(fc.array(mark, { maxLength: 64, size: 'max' }));
const tokens = new ResumeTokens([NEW_KEY], FIRST);
const INVALID = { ok: false, error: 'INVALID' };

function sample(subscriptions: number): ResumePoint {
  return fc.sample(pointWith(fc.array(mark, { minLength: subscriptions, maxLength: subscriptions })), 1)[0]!;
}

describe('a resume token', () => {
  it('gives back what was sealed', () => {
    fc.assert(
      fc.property(anyPoint, uuid, (point, account) => {
        expect(tokens.open(tokens.seal(point, account, NOW), account, NOW)).toEqual({ ok: true, point });
      }),
    );
  });

  it('is no token any more when one bit of it is another', () => {
    const bytes = Buffer.from(tokens.seal(sample(1), ACCOUNT, NOW), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(tokens.open(altered.toString('base64url'), ACCOUNT, NOW)).toEqual(INVALID);
    }
  });

  it('is no token when it is cut, lengthened, or something else', () => {
    const token = tokens.seal(sample(0), ACCOUNT, NOW);
    for (let length = 0; length < token.length; length += 1) {
      expect(tokens.open(token.slice(0, length), ACCOUNT, NOW)).toEqual(INVALID);
    }
    for (const other of [`${token}A`, `${token}AAAA`, token + token, 'A'.repeat(20_000), 'ünïcode', ' ']) {
      expect(tokens.open(other, ACCOUNT, NOW)).toEqual(INVALID);
    }
  });

  it('is written in one way only', () => {
    // 16 bits in three letters leave two bits of the last one unused.
    const token = tokens.seal(sample(0), ACCOUNT, NOW);
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const same = Array.from(letters)
      .map((last) => token.slice(0, -1) + last)
      .filter((other) => Buffer.from(other, 'base64url').equals(Buffer.from(token, 'base64url')));
    expect(same.length).toBeGreaterThan(1);
    expect(same.filter((other) => tokens.open(other, ACCOUNT, NOW).ok)).toEqual([token]);
    for (const other of [`${token}=`, ` ${token}`, `${token}\n`, token.replace(/(.{8})/, '$1\n')]) {
      expect(tokens.open(other, ACCOUNT, NOW)).toEqual(INVALID);
    }
  });

  it('is of no use to anybody else', () => {
    fc.assert(
      fc.property(uuid, uuid, (one, other) => {
        fc.pre(one !== other);
        expect(tokens.open(tokens.seal(sample(1), one, NOW), other, NOW)).toEqual(INVALID);
      }),
      { numRuns: 30 },
    );
  });

  it('outlives a change of keys, as long as the old one is known', () => {
    const old = new ResumeTokens([OLD_KEY], FIRST).seal(sample(1), ACCOUNT, NOW);
    const both = new ResumeTokens([NEW_KEY, OLD_KEY], FIRST);
    expect(both.open(old, ACCOUNT, NOW).ok).toBe(true);
    expect(tokens.open(old, ACCOUNT, NOW)).toEqual(INVALID);
    expect(tokens.open(both.seal(sample(1), ACCOUNT, NOW), ACCOUNT, NOW).ok).toBe(true);
    expect(() => new ResumeTokens([], FIRST).seal(sample(1), ACCOUNT, NOW)).toThrow();
  });

  it('is none any more when the journals have been restored, and one of the restored journals is', () => {
    const before = tokens.seal(sample(1), ACCOUNT, NOW);
    const restored = new ResumeTokens([NEW_KEY], RESTORED);
    expect(restored.open(before, ACCOUNT, NOW)).toEqual(INVALID);
    expect(restored.open(restored.seal(sample(1), ACCOUNT, NOW), ACCOUNT, NOW).ok).toBe(true);
    const again = new ResumeTokens([NEW_KEY], { id: ACCOUNT });
    expect(again.open(restored.seal(sample(1), ACCOUNT, NOW), ACCOUNT, NOW)).toEqual(INVALID);
  });

  it('lives for a day, and a clock that is a little ahead does not spoil it', () => {
    const token = tokens.seal(sample(1), ACCOUNT, NOW);
    expect(tokens.open(token, ACCOUNT, NOW + DAY).ok).toBe(true);
    expect(tokens.open(token, ACCOUNT, NOW + DAY + 1)).toEqual({ ok: false, error: 'EXPIRED' });
    expect(tokens.open(token, ACCOUNT, NOW - 60_000).ok).toBe(true);
    expect(tokens.open(token, ACCOUNT, NOW - 60_001)).toEqual(INVALID);
  });

  it('is as long as its number of subscriptions makes it, whatever stands in it', () => {
    const lengths = new Map<number, Set<number>>();
    fc.assert(
      fc.property(anyPoint, (point) => {
        const rooms = Math.ceil(point.subscriptions.length / 8);
        const seen = lengths.get(rooms) ?? new Set();
        lengths.set(rooms, seen.add(tokens.seal(point, ACCOUNT, NOW).length));
      }),
      { numRuns: 300 },
    );
    for (const seen of lengths.values()) expect(seen.size).toBe(1);
    expect(lengths.size).toBeGreaterThan(3);
  });

  it('does not show that two of them say the same', () => {
    const point = sample(2);
    expect(tokens.seal(point, ACCOUNT, NOW)).not.toBe(tokens.seal(point, ACCOUNT, NOW));
  });
});
