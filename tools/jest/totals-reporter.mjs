import { totalsLine } from './second-look.mjs';

/** Ends a run with one line of totals that scripts and people can read. */
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
