import { expect, it } from '@jest/globals';
import { missedIn, reportOf, tableOf } from '../report.js';
import { appendChecks, kafka } from './kafka.js';

it("the table compares appends with the tool's own batches, batches as large as ours and single records, and only the first has a minimum", () => {
  const checks = appendChecks(3, { journal: 60, tool: 100, toolSameBatch: 200, singles: 4, toolSingles: 5 });
  const report = reportOf([{ row: kafka, outcome: { checks, details: {} } }], false, new Date(0));
  const columns = tableOf(report).map((line) => line.split(/ {2,}/));
  expect(columns.slice(1)).toEqual([
    [
      'kafka: appends, 3 brokers',
      '60.0 records/s',
      '100 (producer tool, one request in flight)',
      '0.600',
      '>= 0.8',
      '>= 1',
      'NO',
    ],
    [
      'kafka: appends, 3 brokers',
      '60.0 records/s',
      '200 (the same with batches of 800 records)',
      '0.300',
      '-',
      '-',
      'for comparison',
    ],
    [
      'kafka: single appends, 3 brokers',
      '4.00 records/s',
      '5.00 (producer tool, one record a request)',
      '0.800',
      '-',
      '-',
      'for comparison',
    ],
  ]);
  expect(missedIn(report)).toEqual(['kafka: appends, 3 brokers: 0.600, but the minimum is at least 0.8']);
});
