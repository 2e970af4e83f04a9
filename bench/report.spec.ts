import { expect, it } from '@jest/globals';
import { UsageFault } from '#libs/platform/terminal/commands.js';
import { callOf } from './call.js';
import { missedIn, reportOf } from './report.js';
import { atLeast, atMost, type Row } from './row.js';

const bounds = { minimum: 10, goal: 20 };

it('reports missed minimums in both directions, and no others', () => {
  const checks = [
    atLeast('enough', 'a second', 10, bounds),
    atLeast('too few', 'a second', 9.5, bounds),
    atMost('short', 'ms', 10, bounds),
    atMost('too long', 'ms', 11, bounds),
  ];
  const row = { name: 'path', title: 'a path', run: () => Promise.resolve({ checks, details: {} }) };
  const report = reportOf([{ row, outcome: { checks, details: {} } }], false, new Date(0));
  expect(missedIn(report)).toEqual([
    'path: too few: 9.50, but the minimum is at least 10',
    'path: too long: 11.0, but the minimum is at most 10',
  ]);
});

it('refuses --strict together with --quick', () => {
  expect(callOf(['--strict'], [])).toMatchObject({ strict: true });
  expect(callOf([], [])).toMatchObject({ strict: false });
  expect(() => callOf(['--strict', '--quick'], [])).toThrow(UsageFault);
});

it('a group name selects several rows, and --only some of them', () => {
  const row = (name: string): Row => ({ name, title: name, run: () => Promise.reject(new Error('not run')) });
  const [first, second, third] = [row('first'), row('second'), row('third')];
  const all = [first, second, third];
  const groups = new Map([['pair', [second, third]]]);
  const rowsOf = (...args: string[]): unknown => callOf(args, all, groups)?.rows;
  expect(rowsOf()).toEqual(all);
  expect(rowsOf('pair')).toEqual([second, third]);
  expect(rowsOf('first', 'pair')).toEqual(all);
  expect(rowsOf('--only', 'third,first')).toEqual([third, first]);
  expect(rowsOf('pair', '--only', 'third')).toEqual([third]);
  expect(() => rowsOf('pair', '--only', 'first')).toThrow(UsageFault);
});
