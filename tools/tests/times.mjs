import { join } from 'node:path';
import { ROOT } from '../build/tree.mjs';

/** Durations of the latest whole run of each tier, by suite, as the progress reporter writes them. */
export const TIMES = join(ROOT, 'node_modules/.cache/sotto/test-times');

const bySeconds = (left, right) => right.seconds - left.seconds;

export function slowest(files, count) {
  return [...files].sort(bySeconds).slice(0, count);
}

export function slowestOf(files, count) {
  return slowest(files, count).map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`);
}

/** Suites, tests and worker seconds of each project of jest. */
export function byProject(files) {
  const rows = new Map();
  for (const { project, passed, failed, skipped, seconds } of files) {
    const row = rows.get(project) ?? { suites: 0, tests: 0, seconds: 0 };
    row.suites += 1;
    row.tests += passed + failed + skipped;
    row.seconds += seconds;
    rows.set(project, row);
  }
  return rows;
}
