import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ResumeTokens, type ResumePointCodec } from './resume-token.js';

const OLD_KEY = 'aa'.repeat(32);
const NEW_KEY = 'bb'.repeat(32);
const DAY = 86_400_000;
const NOW = 1_790_000_000_000;
const FIRST = { id: '2f1c8a90-5b7d-4e63-8a11-9d4f0c6b7e20' };
const RESTORED = { id: 'c4e0b7d6-1f28-4a59-b3c7-6e5d8f9a0b14' };
const ACCOUNT = '5f0c6d1e-0000-4000-8000-000000000001';

/** The position of an example service: how far it has read which list. */
interface ListPosition {
  readonly list: string;
  readonly read: number;
}

const listPositions: ResumePointCodec<ListPosition> = {
  encode: (position) => Buffer.from(JSON.stringify(position)),
  decode: (bytes) => JSON.parse(bytes.toString()) as ListPosition,
};
const POSITION: ListPosition = { list: 'errands', read: 42 };

const tokens = new ResumeTokens([NEW_KEY], listPositions, FIRST);
const INVALID = { ok: false, error: 'INVALID' };

describe('a resume token', () => {
  it('opens to the position that was sealed', () => {
    fc.assert(
      fc.property(fc.record({ list: fc.string(), read: fc.nat() }), fc.uuid(), (point, account) => {
        expect(tokens.open(tokens.seal(point, account, NOW), account, NOW)).toEqual({ ok: true, point });
      }),
    );
  });

  it('is invalid after the change of any one bit', () => {
    const bytes = Buffer.from(tokens.seal(POSITION, ACCOUNT, NOW), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(tokens.open(altered.toString('base64url'), ACCOUNT, NOW)).toEqual(INVALID);
    }
  });

  it('is invalid when it is cut, extended, or replaced by other text', () => {
    const token = tokens.seal(POSITION, ACCOUNT, NOW);
    for (let length = 0; length < token.length; length += 1) {
      expect(tokens.open(token.slice(0, length), ACCOUNT, NOW)).toEqual(INVALID);
    }
    for (const other of [`${token}A`, `${token}AAAA`, token + token, 'A'.repeat(20_000), 'ünïcode', ' ']) {
      expect(tokens.open(other, ACCOUNT, NOW)).toEqual(INVALID);
    }
  });

  it('has only one valid encoding', () => {
    // The last letter has unused bits.
    const token = tokens.seal(POSITION, ACCOUNT, NOW);
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

  it('is invalid for any other account', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (one, other) => {
        fc.pre(one !== other);
        expect(tokens.open(tokens.seal(POSITION, one, NOW), other, NOW)).toEqual(INVALID);
      }),
      { numRuns: 30 },
    );
  });

  it('stays valid after a change of keys while the old key is configured', () => {
    const old = new ResumeTokens([OLD_KEY], listPositions, FIRST).seal(POSITION, ACCOUNT, NOW);
    const both = new ResumeTokens([NEW_KEY, OLD_KEY], listPositions, FIRST);
    expect(both.open(old, ACCOUNT, NOW).ok).toBe(true);
    expect(tokens.open(old, ACCOUNT, NOW)).toEqual(INVALID);
    expect(tokens.open(both.seal(POSITION, ACCOUNT, NOW), ACCOUNT, NOW).ok).toBe(true);
    expect(() => new ResumeTokens([], listPositions, FIRST).seal(POSITION, ACCOUNT, NOW)).toThrow();
  });

  it('from before a restore of the journals is invalid; a new one is valid', () => {
    const before = tokens.seal(POSITION, ACCOUNT, NOW);
    const restored = new ResumeTokens([NEW_KEY], listPositions, RESTORED);
    expect(restored.open(before, ACCOUNT, NOW)).toEqual(INVALID);
    expect(restored.open(restored.seal(POSITION, ACCOUNT, NOW), ACCOUNT, NOW).ok).toBe(true);
    const again = new ResumeTokens([NEW_KEY], listPositions, { id: ACCOUNT });
    expect(again.open(restored.seal(POSITION, ACCOUNT, NOW), ACCOUNT, NOW)).toEqual(INVALID);
  });

  it('is valid for a day, also if the clock that issued it was up to a minute ahead', () => {
    const token = tokens.seal(POSITION, ACCOUNT, NOW);
    expect(tokens.open(token, ACCOUNT, NOW + DAY).ok).toBe(true);
    expect(tokens.open(token, ACCOUNT, NOW + DAY + 1)).toEqual({ ok: false, error: 'EXPIRED' });
    expect(tokens.open(token, ACCOUNT, NOW - 60_000).ok).toBe(true);
    expect(tokens.open(token, ACCOUNT, NOW - 60_001)).toEqual(INVALID);
  });

  it('does not reveal that two of them hold the same position', () => {
    const point = POSITION;
    expect(tokens.seal(point, ACCOUNT, NOW)).not.toBe(tokens.seal(point, ACCOUNT, NOW));
  });
});
