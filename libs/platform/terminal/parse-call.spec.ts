import { describe, expect, it } from '@jest/globals';
import { OUTPUT_OPTION, UsageFault, type CommandArea } from './commands.js';
import { parseCall } from './parse-call.js';

/** An example area with two commands. */
const SHOP = {
  name: 'shop',
  commands: [
    {
      name: 'sell',
      operands: [{ name: 'item' }, { name: 'buyer', optional: true }],
      options: {
        price: { type: 'string', value: 'n', default: '1', text: 'what it costs' },
        gift: { type: 'boolean', text: 'wrapped' },
        tag: { type: 'string', multiple: true, value: 'word', text: 'how it is found' },
        ...OUTPUT_OPTION,
      },
      summary: 'sells one item',
      examples: ['sell pear --price 3'],
    },
    { name: 'close', operands: [], options: {}, summary: 'closes the shop' },
  ],
  notes: ['It opens at nine.'],
} as const satisfies CommandArea;

function parse(line: string) {
  const parsed = parseCall(SHOP, line.split(' '));
  if ('help' in parsed) throw new Error('that was a call for help');
  return parsed;
}

function faultOf(line: string): UsageFault {
  try {
    parse(line);
  } catch (error) {
    if (error instanceof UsageFault) return error;
    throw error;
  }
  throw new Error(`${line} is a call`);
}

describe('a call', () => {
  it('is parsed into operands and options with defaults', () => {
    const { command, operands, options, json } = parse('--tag red sell pear --gift --tag ripe --output=json');
    expect([command.name, operands, json]).toEqual(['sell', ['pear'], true]);
    expect([options.text('price'), options.isSet('gift'), options.texts('tag')]).toEqual([
      '1',
      true,
      ['red', 'ripe'],
    ]);
    expect(parse('sell pear --price 3').options.text('price')).toBe('3');
    expect(parse('sell pear').options.texts('tag')).toBeUndefined();
    expect(parse('sell --gift -- --price').operands).toEqual(['--price']);
  });

  it.each([
    ['', 'expected one of sell, close', undefined],
    ['buy', 'expected one of sell, close', undefined],
    ['sell', 'sell: the item is missing', 'sell'],
    ['sell pear ann bob', 'sell: what is "bob"?', 'sell'],
    ['sell pear --colour red', "Unknown option '--colour'", undefined],
    ['sell pear --price', "Option '--price <value>' argument missing", undefined],
    ['sell pear --price 1 --price 2', '--price is given twice', undefined],
    ['sell pear -h --help', '--help is given twice', undefined],
    ['sell pear --price 1 --price 2 --colour', "Unknown option '--colour'", undefined],
    ['close --gift', 'close has no --gift', 'close'],
    ['sell pear --output xml', 'the only other output is json', 'sell'],
  ])('"%s" is refused in one line: %s', (line, message, about) => {
    expect(faultOf(line)).toMatchObject({ message, about, exitCode: 64 });
  });
});

describe('help', () => {
  it('is generated from the declarations, for an area and for one command', () => {
    const all = parseCall(SHOP, ['--help'], 'run shop');
    expect(all).toEqual({
      help: expect.stringMatching(/Usage: run shop <command>[^]* sell <item> \[buyer\] {2}sells/),
    });
    const one = parseCall(SHOP, ['sell', '-h'], 'run shop');
    expect(one).toEqual({ help: expect.stringContaining('--price n      what it costs; 1 unless given') });
    expect(one).toEqual({ help: expect.stringContaining('Example:\n  run shop sell pear --price 3') });
  });
});
