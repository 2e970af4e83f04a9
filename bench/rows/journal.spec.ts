import { expect, it } from '@jest/globals';
import { missedIn, reportOf, tableOf } from '../report.js';
import { besideEmmett, journal } from './journal.js';

it('the table compares our 64 callers with 16 of emmett, as the target asks, and with 64 of them', () => {
  const checks = besideEmmett({ append64: 900, emmett16: 100, emmett64: 300 });
  const report = reportOf([{ row: journal, outcome: { checks, details: {} } }], false, new Date(0));
  const columns = tableOf(report).map((line) => line.split(/ {2,}/));
  expect(columns.slice(1)).toEqual([
    [
      'journal: appends of 64 callers',
      '900 /s',
      '100 (emmett-postgresql, 16 callers, as the target asks)',
      '9.00',
      '>= 10',
      '>= 20',
      'NO',
    ],
    [
      'journal: appends of 64 callers',
      '900 /s',
      '300 (emmett-postgresql, 64 callers too)',
      '3.00',
      '>= 0',
      '>= 1',
      'goal',
    ],
  ]);
  expect(missedIn(report)).toHaveLength(1);
});
