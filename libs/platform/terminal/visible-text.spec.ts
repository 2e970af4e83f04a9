import { expect, it } from '@jest/globals';
import { visible, visibleJson } from './visible-text.js';

const CODES = [0, 7, 8, 9, 10, 13, 27, 0x7f, 0x80, 0x9b, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069];

it.each(CODES)('shows character %d as an escape', (code) => {
  const text = `a${String.fromCharCode(code)}b`;
  expect(visible(text)).toBe(`a\\u{${code.toString(16)}}b`);
  const json = visibleJson({ text });
  expect(json).toMatch(/^[ -~]+$/);
  expect(JSON.parse(json)).toEqual({ text });
});

it('leaves ordinary text unchanged', () => {
  expect(visible('Zürich – 東京 \\ "x" 👍')).toBe('Zürich – 東京 \\ "x" 👍');
});
