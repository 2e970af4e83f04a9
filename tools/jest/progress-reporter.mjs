import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ROOT } from '../build/tree.mjs';

/**
 * For whole tiers, started by `tools/test.mjs`: prints a line for each suite, prints failures in full, and
 * writes the counts of every suite to TOTALS_FILE.
 */
export default class ProgressReporter {
  #ended = 0;
  #total = 0;

  onRunStart({ numTotalTestSuites }) {
    this.#total = numTotalTestSuites;
  }

  onTestResult(test, file) {
    this.#ended += 1;
    const counts = countsOf(file, test.context.config.displayName?.name);
    const word = counts.failed > 0 ? 'FAILED' : 'ok';
    const at = `[${String(this.#ended)}/${String(this.#total)}]`;
    console.log(`${at} ${word} ${counts.seconds.toFixed(1)} s ${counts.path}`);
    if (counts.failed === 0) return;
    for (const { message, origin } of file.console ?? []) console.log(`${message}\n${origin}`);
    console.log(file.failureMessage ?? '');
  }

  onRunComplete(_contexts, { testResults }) {
    const files = testResults.map((file) => countsOf(file, file.displayName?.name));
    writeFileSync(process.env.TOTALS_FILE, JSON.stringify(files));
  }
}

function countsOf(file, project) {
  const didNotRun = file.testExecError === undefined ? [] : ['the file itself'];
  const names = file.testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
  return {
    path: relative(ROOT, file.testFilePath),
    project: project ?? 'unit',
    seconds: (file.perfStats.end - file.perfStats.start) / 1000,
    passed: file.numPassingTests,
    skipped: file.numPendingTests + file.numTodoTests,
    failed: names.length + didNotRun.length,
    names: [...names, ...didNotRun],
  };
}
