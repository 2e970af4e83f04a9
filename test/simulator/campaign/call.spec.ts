import { describe, expect, it } from '@jest/globals';
import { readCall } from './call.js';

const LAST = String(Number.MAX_SAFE_INTEGER);

describe('a call of the simulator', () => {
  it('looks through one world if no arguments are given', () => {
    expect(readCall([])).toMatchObject({ seed: 1, count: 1, mostFailures: 1, patienceSeconds: 60 });
    expect(readCall(['--seed', '0', '--count', '7'])).toMatchObject({ seed: 0, count: 7 });
  });

  it.each(['--count', '--threads', '--failures', '--patience'])(
    'is rejected if %s would search nothing',
    (option) => {
      for (const number of ['0', '-1', '1.5', 'x', '']) expect(readCall([option, number])).toBeUndefined();
      expect(readCall([option, '1'])).toBeDefined();
    },
  );

  it('is rejected if the range of seeds leaves the safe integers', () => {
    expect(readCall(['--seed', LAST])).toMatchObject({ seed: Number.MAX_SAFE_INTEGER, count: 1 });
    expect(readCall(['--seed', LAST, '--count', '2'])).toBeUndefined();
    expect(readCall(['--seed', '2', '--count', LAST])).toBeUndefined();
    expect(readCall(['--seed', '1', '--count', LAST])).toBeDefined();
    for (const seed of ['9007199254740992', '9007199254740991.4', '1e3', '-1', ''])
      expect(readCall(['--seed', seed])).toBeUndefined();
  });

  it.each([['--count', '5'], ['--failures', '2'], ['--threads', '2'], ['--must-reach'], ['--no-shrink']])(
    'is rejected if it asks for the trace of one seed together with %s, which needs many seeds',
    (...ofMany) => {
      expect(readCall(ofMany)).toBeDefined();
      expect(readCall(['--trace', ...ofMany])).toBeUndefined();
    },
  );

  it('may set the patience for a seed, with a trace too', () => {
    expect(readCall(['--seed', '7', '--trace', '--patience', '5'])).toMatchObject({
      seed: 7,
      showsTrace: true,
      patienceSeconds: 5,
    });
    expect(readCall(['--patience', LAST])).toBeUndefined();
  });
});
