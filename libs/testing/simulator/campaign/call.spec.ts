import { describe, expect, it } from '@jest/globals';
import { readCall } from './call.js';

describe('a call of the simulator', () => {
  it('looks through one world where nothing is said', () => {
    expect(readCall([])).toMatchObject({ seed: 1, count: 1, mostFailures: 1 });
    expect(readCall(['--seed', '0', '--count', '7'])).toMatchObject({ seed: 0, count: 7 });
  });

  it.each(['--count', '--threads', '--failures'])(
    'cannot be read where %s would look at nothing',
    (option) => {
      for (const number of ['0', '-1', '1.5', 'x', '']) expect(readCall([option, number])).toBeUndefined();
      expect(readCall([option, '1'])).toBeDefined();
    },
  );
});
