import { totalsLine } from './second-look.mjs';

/** Closes a plain run with one line of totals, which scripts and people can read without knowing jest. */
export default class TotalsReporter {
  onRunComplete(_contexts, results) {
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
