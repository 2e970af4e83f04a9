import { describe, expect, it } from '@jest/globals';
import { PLANTED_BUGS } from './bugs.js';
import { compiled, spoilt, spoiltText, type Sources } from './planting.js';
import type { PlantedBug, Spoil } from './planted-bug.js';
import { sourcesIn } from './spoilt-tree.js';

const CLOCK = `
export class Clock {
  private ticks = 0;

  /** How late it is. */
  now(): number {
    return this.ticks + sum(
      1,
      2,
    );
  }

  later(): number {
    return this.ticks + this.ticks;
  }
}

function sum(one: number, other: number): number {
  return one + other;
}
`;

function sources(files: Readonly<Record<string, string>>): Sources {
  return { read: (path) => files[path], paths: () => Object.keys(files) };
}

function spoil(symbol: string, before: string, after: string): Spoil {
  return { file: 'libs/clock.ts', symbol, replace: [before, after] };
}

function bug(one: Spoil): PlantedBug {
  return { name: 'a-bug', mistake: 'It is wrong.', promise: /./, foundBy: 'simulator', ...one };
}

describe('planting', () => {
  it('replaces a snippet within a member, whatever its layout', () => {
    const text = spoiltText(CLOCK, spoil('Clock.now', 'this.ticks + sum(1, 2)', '0'));
    expect(text).toContain('now(): number {\n    return 0;\n  }');
    expect(text.slice(text.indexOf('later'))).toBe(CLOCK.slice(CLOCK.indexOf('later')));
  });

  it('replaces a snippet within a function', () => {
    expect(spoiltText(CLOCK, spoil('sum', 'one + other', 'one - other'))).toContain('return one - other;');
  });

  it.each([
    [spoil('Clock.then', 'x', 'y'), 'there is no Clock.then'],
    [spoil('Clock.now', 'this.ticks - 1', ''), 'Clock.now has 0 times'],
    [spoil('Clock.later', 'this.ticks', '0'), 'Clock.later has 2 times'],
  ])('refuses a snippet that does not occur, or that occurs twice', (one, fault) => {
    expect(() => spoiltText(CLOCK, one)).toThrow(fault);
  });

  it('finds a symbol that has moved to the only file that exports it', () => {
    const one = bug(spoil('Clock.later', 'this.ticks + this.ticks', '0'));
    const moved = { 'libs/time/clock.ts': CLOCK };
    expect(spoilt(one, sources(moved))).toEqual([
      { path: 'libs/time/clock.ts', text: CLOCK.replace('this.ticks + this.ticks', '0') },
    ]);
    expect(() => spoilt(one, sources({ ...moved, 'apps/clock.ts': CLOCK }))).toThrow('2 other files');
    expect(() => spoilt(bug(spoil('sum', 'one', '1')), sources(moved))).toThrow('0 other files');
  });

  it('refuses a mistake that does not compile', () => {
    const one = bug(spoil('sum', 'one + other', 'one +'));
    expect(() => spoilt(one, sources({ 'libs/clock.ts': CLOCK }))).toThrow('libs/clock.ts does not compile');
  });

  it('compiles as the build does', () => {
    const text = compiled({ path: 'libs/clock.ts', text: CLOCK }, process.cwd());
    expect(text).toContain('later() {');
    expect(text).not.toContain(': number');
  });
});

it('bugs have unique names, and all fit the code', () => {
  const names = PLANTED_BUGS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const one of PLANTED_BUGS) {
    for (const { path, text } of spoilt(one, sourcesIn(process.cwd())))
      expect([one.name, text]).not.toEqual([one.name, sourcesIn(process.cwd()).read(path)]);
  }
});
