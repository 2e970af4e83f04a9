import { describe, expect, it } from '@jest/globals';
import { firstDifference } from './first-difference.js';
import { TwinTranscript } from './transcript.js';

const SETTLED = 950;
const UNTIL = 1_000;

/** What mia was sent on her stream, and when. */
function told(...lines: readonly (readonly [number, string])[]): TwinTranscript {
  const transcript = new TwinTranscript(UNTIL);
  for (const [at, text] of lines) transcript.note('mia', 'stream', text, at);
  return transcript;
}

function differ(one: TwinTranscript, other: TwinTranscript): string | undefined {
  return firstDifference(one, other, ['mia'], SETTLED)?.what;
}

describe('two transcripts of one life', () => {
  it('differ if one has an entry that the other lacks, on either side', () => {
    const [more, less] = [told([100, 'a'], [200, 'b']), told([100, 'a'])];
    expect(differ(more, less)).toBe('mia stream 1: with competitors b, without nothing');
    expect(differ(less, more)).toBe('mia stream 1: with competitors nothing, without b');
    expect(differ(told([100, 'a']), told([100, 'b']))).toBe('mia stream 0: with competitors a, without b');
    expect(differ(told(), less)).toBe('mia stream 0: with competitors nothing, without a');
  });

  it('differ at the moment of the first difference', () => {
    const difference = firstDifference(
      told([100, 'a'], [310, 'b']),
      told([100, 'a'], [300, 'c']),
      ['mia'],
      SETTLED,
    );
    expect(difference?.atNanos).toBe(300);
    expect(firstDifference(told([100, 'a']), told(), ['mia'], SETTLED)?.atNanos).toBe(100);
  });

  it('do not differ if the same entry came slightly earlier in one of them, even across the line', () => {
    expect(differ(told([100, 'a'], [949, 'b']), told([101, 'a'], [951, 'b']))).toBeUndefined();
    expect(differ(told([100, 'a'], [951, 'b']), told([101, 'a'], [949, 'b']))).toBeUndefined();
  });

  it('differ if an entry before the line never came in the other', () => {
    expect(differ(told([949, 'b']), told([1_001, 'b']))).toContain('with competitors b, without nothing');
    expect(differ(told([949, 'b']), told([951, 'c'], [952, 'b']))).toContain('with competitors b, without c');
  });

  it('ignore what comes after the line', () => {
    expect(differ(told([100, 'a'], [951, 'won']), told([100, 'a'], [952, 'lost']))).toBeUndefined();
    expect(differ(told([100, 'a'], [951, 'won']), told([100, 'a']))).toBeUndefined();
  });

  it('are compared by what the observers were sent, without times and tokens', () => {
    const one = told([100, '{"at":"2026-09-21T14:13:25.126891048Z","connection_id":"x","resume_token":"y"}']);
    const other = told([100, '{"at":"2026-09-21T14:13:25.126879145Z","connection_id":"z"}']);
    expect(differ(one, other)).toBeUndefined();
    one.note('max', 'stream', 'more', 100);
    expect(differ(one, other)).toBeUndefined();
  });
});
