/**
 * Which test files run again, and the result of both runs. A run is `{code, files}`, files as the progress
 * reporter writes them.
 */

/** A busy machine does not make more files fail than this. */
const AT_MOST = 8;
/** Each run draws new input: one failure is a finding, however often the test passes later. */
const FINDINGS = /propert(y|ies)[^/]*\.spec\.ts$/;
/** These check what other tests recorded, so they run again after any of those. */
const LAST = /\.last\.spec\.ts$/;
const END_TO_END = /^test\/e2e\//;

export function toLookAtAgain({ files }) {
  if (files === undefined) return [];
  const failed = files.filter((file) => file.failed > 0).map(({ path }) => path);
  if (failed.length === 0 || failed.length > AT_MOST || failed.some((path) => FINDINGS.test(path))) return [];
  if (!failed.some((path) => END_TO_END.test(path))) return failed;
  const last = files.map(({ path }) => path).filter((path) => LAST.test(path));
  return [...new Set([...failed, ...last])];
}

const sum = (files, of) => files.reduce((total, file) => total + of(file), 0);

function failures({ code, files }) {
  const failed = sum(files ?? [], (file) => file.failed);
  const brokeDown = code !== 0 && failed === 0;
  return { failed: brokeDown ? 1 : failed, brokeDown };
}

/** A run that crashed without a failed test counts as failed. */

export function judged(first, second) {
  const seconds = new Map((second?.files ?? []).map((file) => [file.path, file]));
  const files = (first.files ?? []).map((file) => seconds.get(file.path) ?? file);
  const lost = second !== undefined && second.files === undefined;
  const totals = {
    passed: sum(files, (file) => file.passed),
    skipped: sum(files, (file) => file.skipped),
    ...(lost || second === undefined ? failures(first) : failures({ code: second.code, files })),
  };
  const unsteady = (first.files ?? []).flatMap(({ path, names }) =>
    names
      .filter((name) => seconds.has(path) && !seconds.get(path).names.includes(name))
      .map((name) => `${path}: ${name}`),
  );
  return { ...totals, unsteady };
}

export function totalsLine({ passed, failed, skipped }) {
  return `${String(passed)} passed, ${String(failed)} failed${skipped > 0 ? `, ${String(skipped)} skipped` : ''}`;
}
