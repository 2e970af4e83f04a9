import { describe, expect, it } from '@jest/globals';
import { shardOf } from './arguments.js';
import { UsageFault } from '#libs/platform/terminal/commands.js';
import { parseCall } from '#libs/platform/terminal/parse-call.js';
import { OPS } from '../ops.js';

function faultOf(typed: string): UsageFault {
  try {
    parseCall(OPS, typed.split(' '));
  } catch (error) {
    if (error instanceof UsageFault) return error;
    throw error;
  }
  throw new Error(`${typed} is a command`);
}

function helpOf(typed: string): string {
  const parsed = parseCall(OPS, typed.split(' '));
  if (!('help' in parsed)) throw new Error(`${typed} asks for no help`);
  return parsed.help;
}

describe('an unknown command', () => {
  it.each([
    ['halt list', 'there is no command halt list, but halts, halt impose, halt lift'],
    ['shard status 1', 'there is no command shard status 1, but shards, shard drain, shard resume'],
    ['action', 'there is no command action, but actions'],
    ['stop', 'there is no command stop'],
    [
      'shard http://user:secret@host',
      'there is no command shard URL without --url, but shards, shard drain, shard resume',
    ],
  ])('%s is answered in one line that names the commands', (typed, message) => {
    expect(faultOf(typed)).toMatchObject({ message, about: undefined, exitCode: 64 });
  });

  it.each([
    ['shard drain', 'shard drain: the shard is missing', 'shard drain'],
    ['shards 1 2', 'shards: what is "2"?', 'shards'],
    ['halts --watch', 'halts has no --watch', 'halts'],
    ['halts --output text', 'the only other output is json', 'halts'],
    ['halts --colour', "Unknown option '--colour'", undefined],
  ])('%s is answered in one line that points to the help', (typed, message, about) => {
    expect(faultOf(typed)).toMatchObject({ message, about, exitCode: 64 });
  });
});

describe('shards', () => {
  it('do not print a URL in place of a number, because it may hold a password', () => {
    const parsed = parseCall(OPS, ['shards', 'http://user:secret@host']);
    expect(() => 'command' in parsed && shardOf(parsed)).toThrow('not "URL without --url"');
  });

  it.each([
    ['shards', []],
    ['shards 1', ['1']],
  ])('are listed by %s', (typed, operands) => {
    expect(parseCall(OPS, typed.split(' '))).toMatchObject({ command: { name: 'shards' }, operands });
  });
});

describe('help', () => {
  it('with one word shows all commands that begin with it, singular or plural', () => {
    for (const typed of ['shard --help', 'halt --help']) {
      const lines = helpOf(typed)
        .split('\n')
        .filter((line) => /^ {2}(shard|halt)/.test(line));
      expect(lines.map((line) => line.trim().split(/ {2,}/)[0])).toEqual(
        typed.startsWith('shard')
          ? ['shards [shard]', 'shard drain <shard>', 'shard resume <shard>']
          : ['halts', 'halt impose', 'halt lift <halt-id>'],
      );
    }
  });

  it('does not refer to lines that it does not show', () => {
    for (const word of ['shard', 'halt', 'auction', '']) {
      expect(helpOf(`${word} --help`.trim())).not.toMatch(/the same/);
    }
  });
});
