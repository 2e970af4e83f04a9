import { describe, expect, it } from '@jest/globals';
import { readCall } from './call.js';

const LAST = String(Number.MAX_SAFE_INTEGER);

describe('a call of the simulator', () => {
  it('looks through one world where nothing is said', () => {
    expect(readCall([])).toMatchObject({ seed: 1, count: 1, mostFailures: 1, patienceSeconds: 60 });
    expect(readCall(['--seed', '0', '--count', '7'])).toMatchObject({ seed: 0, count: 7 });
  });

  it.each(['--count', '--threads', '--failures', '--patience'])(
    'cannot be read where %s would look at nothing',
    (option) => {
      for (const number of ['0', '-1', '1.5', 'x', '']) expect(readCall([option, number])).toBeUndefined();
      expect(readCall([option, '1'])).toBeDefined();
    },
  );

  it('may say how long a seed may take, of whose trace as well', () => {
    expect(readCall(['--seed', '7', '--trace', '--patience', '5'])).toMatchObject({
      seed: 7,
      showsTrace: true,
      patienceSeconds: 5,
    });
    expect(readCall(['--patience', LAST])).toBeUndefined();
  });
});
