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
])('%j against %j', (presented, tokens, expected) => {
  expect(isValidToken(presented, tokens)).toBe(expected);
});

it('compares all tokens, even after a match', () => {
  let compared = 0;
  const tokens = ['secret', 'second', 'third'];
  const counted = Object.assign([...tokens], {
    *[Symbol.iterator](): ArrayIterator<string> {
      for (const token of tokens) {
        compared += 1;
        yield token;
      }
    },
  });
  expect(isValidToken('secret', counted)).toBe(true);
  expect(compared).toBe(3);
});

it('compares only digests, in constant time', () => {
  const source = isValidToken.toString();
  expect(source).toContain('timingSafeEqual');
  expect(source).not.toMatch(
    /\b(presented|token)\b\s*[!=]==?\s*\b(presented|token)\b|startsWith|includes|localeCompare/,
  );
});
