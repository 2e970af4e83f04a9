import { expect, it } from '@jest/globals';
import { must } from '../../simulator/oracle/violation.js';
import { Findings } from './findings.js';

it('continue after a check that finds something or throws', async () => {
  const findings = new Findings();
  findings.look('things', () => must(false, 'promise', () => 'is broken'));
  findings.look('things', () => {
    JSON.parse('<html>');
  });
  await findings.part('the books', () => Promise.reject(new Error('no such table')));
  findings.look('things', () => undefined);
  expect(findings.checked).toEqual(new Map([['things', 3]]));
  expect(findings.violations).toEqual([
    'promise: is broken',
    expect.stringContaining('everything can be judged: things: SyntaxError'),
    expect.stringContaining('everything can be judged: the books: Error: no such table'),
  ]);
});
