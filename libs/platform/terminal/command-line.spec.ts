import { describe, expect, it } from '@jest/globals';
import { parseCommandLine, RepeatedOption } from './command-line.js';

const options = {
  shard: { type: 'string' },
  venue: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
} as const;

function typed(...args: string[]) {
  return parseCommandLine({ args, allowPositionals: true, options });
}

describe('a command line', () => {
  it('is read as it was typed, and options that may stand several times are all there', () => {
    const { values, positionals } = typed('verify', '--venue', 'a', '--shard=1', '--venue=b');
    expect(values).toMatchObject({ shard: '1', venue: ['a', 'b'] });
    expect(positionals).toEqual(['verify']);
  });

  it.each([
    [['--shard', '1', '--shard', '2'], 'shard'],
    [['--shard=1', 'verify', '--shard', '1'], 'shard'],
    [['-h', '--help'], 'help'],
  ])('that says something twice is refused: %j', (args, name) => {
    const repeated = () => typed(...args);
    expect(repeated).toThrow(RepeatedOption);
    expect(repeated).toThrow(`--${name} is given twice`);
  });

  it('takes what stands behind -- for what it is, and no option', () => {
    expect(typed('--shard', '1', '--', '--shard').positionals).toEqual(['--shard']);
  });

  it('says what is wrong with it before anything else', () => {
    expect(() => typed('--shard', '1', '--shard', '2', '--stranger')).toThrow('stranger');
  });
});
