/** Closes the run with one plain line of totals, which scripts and people can read without knowing jest. */
export default class TotalsReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${String(results.numPassedTests)} passed, ${String(failed)} failed`;
    process.on('exit', () => {
      process.stdout.write(`${line}${skipped > 0 ? `, ${String(skipped)} skipped` : ''}\n`);
    });
  }
}
