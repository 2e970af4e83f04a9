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

  it('cannot be read where it comes to seeds that are no numbers of their own', () => {
    expect(readCall(['--seed', LAST])).toMatchObject({ seed: Number.MAX_SAFE_INTEGER, count: 1 });
    expect(readCall(['--seed', LAST, '--count', '2'])).toBeUndefined();
    expect(readCall(['--seed', '2', '--count', LAST])).toBeUndefined();
    expect(readCall(['--seed', '1', '--count', LAST])).toBeDefined();
    for (const seed of ['9007199254740992', '9007199254740991.4', '1e3', '-1', ''])
      expect(readCall(['--seed', seed])).toBeUndefined();
  });

  it.each([['--count', '5'], ['--failures', '2'], ['--threads', '2'], ['--must-reach'], ['--no-shrink']])(
    'cannot be read where a trace of one seed is asked for, and %s of many',
    (...ofMany) => {
      expect(readCall(ofMany)).toBeDefined();
      expect(readCall(['--trace', ...ofMany])).toBeUndefined();
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
