import { expect, it } from '@jest/globals';
import { isValidToken } from './internal-server.js';

it.each([
  ['secret', ['secret'], true],
  ['secret', ['other', 'secret'], true],
  ['secret', ['secret', 'other'], true],
  ['secreT', ['secret'], false],
  ['secret ', ['secret'], false],
  ['secre', ['secret'], false],
  ['', ['secret'], false],
  ['', [], false],
  [undefined, ['secret'], false],
  [['secret'], ['secret'], false],
])('%j against %j', (given, good, expected) => {
  expect(isValidToken(given, good)).toBe(expected);
});

it('compares every token, whichever of them is right', () => {
  let looked = 0;
  const good = ['secret', 'second', 'third'];
  const counted = Object.assign([...good], {
    *[Symbol.iterator](): ArrayIterator<string> {
      for (const token of good) {
        looked += 1;
        yield token;
      }
    },
  });
  expect(isValidToken('secret', counted)).toBe(true);
  expect(looked).toBe(3);
});

it('compares only digests, in constant time', () => {
  const source = isValidToken.toString();
  expect(source).toContain('timingSafeEqual');
  expect(source).not.toMatch(
    /\b(given|token)\b\s*[!=]==?\s*\b(given|token)\b|startsWith|includes|localeCompare/,
  );
});
