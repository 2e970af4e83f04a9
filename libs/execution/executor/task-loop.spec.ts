import { expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { termsOf } from '#libs/testing/execution/cell-journal.js';
import type { ExecutorTask } from '../protocol/cell-protocol.js';
import type { Reporting } from './cell-client.js';
import { TaskLoop } from './task-loop.js';

const terms = termsOf({ order_id: 'order', user_id: 'ann' });
const of = { user_id: 'ann', venue: 'venue_b' } as const;
const TASKS: readonly ExecutorTask[] = [
  { ...of, task_id: 'submit/1/x', kind: 'submit', terms, attempt: 1 },
  { ...of, task_id: 'cancel/1/x', kind: 'cancel', terms, venue_client_id: 'order' },
  { ...of, task_id: 'reconcile/0/x', kind: 'reconcile' },
];

it('tasks that arrive while the executor stops are returned before it has stopped', async () => {
  const reports: (Reporting & { readonly task_id: string })[] = [];
  let give: (tasks: readonly ExecutorTask[]) => void = () => undefined;
  const loop = new TaskLoop({
    cell: {
      claim: (max) => {
        // The cell had answered the former claim with tasks.
        if (max > 0) return new Promise((resolve) => (give = resolve));
        give(TASKS);
        return Promise.resolve([]);
      },
      report: (task_id, reporting) => {
        reports.push({ task_id, ...reporting });
        return Promise.resolve();
      },
    },
    carryOut: () => Promise.reject(new Error('it has been stopped')),
    ...{ clock: new SystemClock(), concurrency: 8 },
    onFault: (what, error) => {
      throw new Error(what, { cause: error });
    },
  });
  loop.start();
  await loop.stop();
  expect(reports).toMatchObject([
    { task_id: 'submit/1/x', order_id: 'order', report: { what: 'returned' } },
    { task_id: 'cancel/1/x', order_id: 'order', report: { what: 'doubtful' } },
    { task_id: 'reconcile/0/x', report: { what: 'returned' } },
  ]);
  expect(loop.carrying).toBe(0);
});
