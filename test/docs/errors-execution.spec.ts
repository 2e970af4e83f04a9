import { describe, expect, it } from '@jest/globals';
import { actionsOf, classificationOf, statusOf } from '#libs/execution/rules/failures.js';
import { codeIn, rowsWith, textOf, type TableRow } from './markdown.js';

const PATH = 'docs/reference/errors-execution.md';
const refusals = rowsWith(PATH, 'Status', 'Code');
const failures = rowsWith(PATH, 'Failure', 'Classification');

const codeOf = ({ Code, Failure }: TableRow): string => codeIn(Code ?? Failure ?? '').join();

/** Codes in the rules: capitals in quotes, or as a member of a record. */
function codesOfTheRules(): Set<string> {
  const text = textOf('libs/execution/rules/failures.ts');
  const found = [...text.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'|^ {2}([A-Z]+(?:_[A-Z]+)+):/gm)];
  const words = found.map(([, quoted, member]) => quoted ?? member ?? '');
  return new Set(words.filter((word) => word !== 'RATE_LIMITED' && !word.startsWith('MARKET_')));
}

describe('the catalogue of errors of execution', () => {
  const all = [...refusals, ...failures];

  it('names each code once, and all codes of the rules', () => {
    const named = all.map(codeOf);
    expect(new Set(named).size).toBe(named.length);
    expect([...codesOfTheRules()].filter((code) => !named.includes(code))).toEqual([]);
  });

  it.each(all.map((row): [string, TableRow] => [codeOf(row), row]))('describes %s correctly', (code, row) => {
    expect(codeIn(row.Classification ?? '')).toEqual([classificationOf(code)]);
    expect(codeIn(row.Actions ?? '')).toEqual(actionsOf(code));
  });

  it.each(refusals.map((row): [string, string] => [codeOf(row), row.Status ?? '']))(
    'has the right status for %s',
    (code, status) => {
      expect(Number(status)).toBe(statusOf(code));
    },
  );
});
