import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ROOT } from '../build/tree.mjs';
import { totalsLine } from './second-look.mjs';

/** Closes the run with one plain line of totals, which scripts and people can read without knowing jest. */
export default class TotalsReporter {
  onRunComplete(_contexts, results) {
    if (process.env.TOTALS_FILE !== undefined) {
      // Whoever started this run closes it, and has more than this run to count.
      writeFileSync(process.env.TOTALS_FILE, JSON.stringify(results.testResults.map(countsOf)));
      return;
    }
    const line = totalsLine({
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    });
    process.on('exit', () => {
      process.stdout.write(`${line}\n`);
    });
  }
}

function countsOf(file) {
  const didNotRun = file.testExecError === undefined ? [] : ['the file itself'];
  const names = file.testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
  return {
    path: relative(ROOT, file.testFilePath),
    passed: file.numPassingTests,
    skipped: file.numPendingTests + file.numTodoTests,
    failed: names.length + didNotRun.length,
    names: [...names, ...didNotRun],
  };
}
