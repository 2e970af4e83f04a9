import { describe, expect, it } from '@jest/globals';
import { sortOf, Sorts } from './sorts.js';

const ID = '0a000000-0000-8000-8000-00000000000';

describe('the sort of a violation', () => {
  it.each([
    ['ids', `a: ${ID}1 is late`, `a: ${ID}2 is late`],
    ['numbers', 'slower than 1000 ms: 1203 ms', 'slower than 1000 ms: 4711 ms'],
    ['sizes', 'memory: gateway-0 holds 31.9 MiB more', 'memory: gateway-0 holds 30.0 MiB more'],
    ['times', 'a: 2026-11-20T12:00:00.500000000Z, not', 'a: 2026-11-21T12:00:00.000000000Z, not'],
    ['lists of ids', `a: ["${ID}1"] is told`, `a: ["${ID}1","${ID}2","${ID}3"] is told`],
    ['bodies', 'a: first {"a":1}, then {"b":{"c":2}}', 'a: first {"b":2}, then {"b":{}}'],
  ])('is the same whatever the %s', (_, one, other) => {
    expect(sortOf(one)).toBe(sortOf(other));
  });

  it.each([
    ['words', 'a: SUBMIT is late', 'a: REVISE is late'],
    ['statuses', 'GET /v1/auctions 404: no', 'GET /v1/auctions 422: no'],
    ['statuses with a body', 'a is told 500 {"error":"x"}', 'a is told 503 {"error":"x"}'],
    ['codes', 'a is told 422 {"error":"X"}', 'a is told 422 {"error":"Y"}'],
    ['codes without a body', 'a is told 422 SOME_CODE', 'a is told 409 SOME_CODE'],
  ])('differs for other %s', (_, one, other) => {
    expect(sortOf(one)).not.toBe(sortOf(other));
  });
});

describe('violations by sort', () => {
  it('are counted, with some examples, so that no sort hides another', () => {
    const sorts = new Sorts();
    for (let times = 0; times < 1_000; times += 1) sorts.add(`noise: ${times} lines`);
    sorts.add('streams are dense: a hole');
    expect(sorts.found).toBe(1_001);
    expect(sorts.lines).toEqual([
      'VIOLATION noise: 0 lines (1000 of this sort)',
      '    also noise: 1 lines',
      '    also noise: 2 lines',
      'VIOLATION streams are dense: a hole',
    ]);
  });

  it('are limited for each promise, so that one promise with many sorts hides no other', () => {
    const sorts = new Sorts();
    const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
    for (const one of letters) for (const other of letters) sorts.add(`noise: word ${one}${other}`);
    sorts.add('streams are dense: a hole');
    expect(sorts.found).toBe(677);
    expect(sorts.lines).toHaveLength(27);
    expect(sorts.lines).toContain('VIOLATION streams are dense: a hole');
    expect(sorts.lines.at(-1)).toBe('VIOLATION noise: 651 more, of other sorts than those that are shown');
  });

  it('are merged with all their counts', () => {
    const [sorts, others] = [new Sorts(), new Sorts()];
    for (let times = 0; times < 10; times += 1) others.add(`noise: ${times} lines`);
    others.add('noise: of one kind');
    sorts.add('noise: 99 lines');
    sorts.take(others);
    expect(sorts.found).toBe(12);
    expect(sorts.lines[0]).toBe('VIOLATION noise: 99 lines (11 of this sort)');
    expect(sorts.has('noise: 7 lines')).toBe(true);
    expect(sorts.has('noise: 7 words')).toBe(false);
  });
});
