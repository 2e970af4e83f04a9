import { describe, expect, it } from '@jest/globals';
import { thrown } from './thrown.js';

describe('what was thrown', () => {
  it('is reported with its location in this tree, wherever the tree is', () => {
    const [what, place] = thrown(new RangeError('too far')).split('\n');
    expect(what).toBe('RangeError: too far');
    expect(place).toMatch(/^ +at (.*\()?test\/simulator\/campaign\/thrown\.spec\.ts:\d+:\d+\)?$/);
  });

  it('is reported even if it is not an Error', () => {
    expect(thrown('too far')).toBe("'too far' was thrown");
    expect(thrown(undefined)).toBe('undefined was thrown');
    expect(thrown(Object.create(null))).toContain('was thrown');
  });
});
