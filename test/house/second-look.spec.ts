import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from './tool.js';

interface Counts {
  readonly path: string;
  readonly passed: number;
  readonly skipped: number;
  readonly failed: number;
  readonly names: readonly string[];
}

interface Run {
  readonly code: number;
  readonly files?: readonly Counts[];
}

interface SecondLook {
  readonly toLookAtAgain: (run: Run) => string[];
  readonly judged: (first: Run, second?: Run) => Readonly<Record<string, unknown>>;
}

const { toLookAtAgain, judged } = (await import(join(ROOT, 'tools/jest/second-look.mjs'))) as SecondLook;

const LAST = 'test/e2e/interface.last.spec.ts';

function file(path: string, passed: number, ...names: string[]): Counts {
  return { path, passed, skipped: 1, failed: names.length, names };
}

function run(...files: Counts[]): Run {
  return { code: files.some(({ failed }) => failed > 0) ? 1 : 0, files };
}

describe('which files are looked at once more', () => {
  it('looks at those that failed, and at no others', () => {
    expect(toLookAtAgain(run(file('a.spec.ts', 3, 'late'), file('b.spec.ts', 4)))).toEqual(['a.spec.ts']);
    expect(toLookAtAgain(run(file('a.spec.ts', 3)))).toEqual([]);
  });

  it('checks again what all have said, when one of those that say it failed', () => {
    const first = run(
      file('test/e2e/full/faults.full.spec.ts', 3, 'late'),
      file(LAST, 9),
      file('b.spec.ts', 1),
    );
    expect(toLookAtAgain(first)).toEqual(['test/e2e/full/faults.full.spec.ts', LAST]);
  });

  it('takes what drawn input has found for a finding', () => {
    const first = run(
      file('libs/auction/rules/awards.properties.spec.ts', 3, 'to the atom'),
      file('b.spec.ts', 1, 'late'),
    );
    expect(toLookAtAgain(first)).toEqual([]);
  });

  it('does not look at many: so much does not fail by chance', () => {
    const files = Array.from({ length: 9 }, (_, index) => file(`${String(index)}.spec.ts`, 3, 'late'));
    expect(toLookAtAgain(run(...files))).toEqual([]);
    expect(toLookAtAgain({ code: 1 })).toEqual([]);
  });
});

describe('what two runs come to', () => {
  it('counts a file as it was the second time, and names what is unsteady', () => {
    const first = run(file('a.spec.ts', 3, 'late', 'later'), file('b.spec.ts', 4));
    expect(judged(first, run(file('a.spec.ts', 5)))).toEqual({
      passed: 9,
      failed: 0,
      skipped: 2,
      brokeDown: false,
      unsteady: ['a.spec.ts: late', 'a.spec.ts: later'],
    });
  });

  it('fails with what fails twice', () => {
    const first = run(file('a.spec.ts', 3, 'wrong', 'late'), file('b.spec.ts', 4));
    expect(judged(first, run(file('a.spec.ts', 4, 'wrong')))).toMatchObject({
      passed: 8,
      failed: 1,
      unsteady: ['a.spec.ts: late'],
    });
  });

  it('fails with a run that broke down without a failed test, the second one too', () => {
    const first = run(file('a.spec.ts', 3, 'late'));
    expect(judged({ code: 1 })).toMatchObject({ failed: 1, brokeDown: true });
    expect(judged({ code: 1, files: [file('b.spec.ts', 4)] })).toMatchObject({ failed: 1 });
    expect(judged(first, { code: 1 })).toMatchObject({ failed: 1 });
    expect(judged(first, { code: 1, files: [file('a.spec.ts', 4)] })).toMatchObject({ failed: 1 });
  });
});
