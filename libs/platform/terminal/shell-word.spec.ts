import { execFileSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { shellWord } from './visible-text.js';

it.each(['.data', '/var/lib/sotto', 'with space', "it's", '$HOME `id` "x" \\', 'ä*?', ''])(
  'a shell reads %j as one word',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  },
);
