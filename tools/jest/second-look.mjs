/** Which test files are looked at once more, and what two runs come to. A run is `{code, files}`, files as the totals reporter writes them. */

/** More files than that do not fail because a machine is busy. */
const AT_MOST = 8;
/** Their input is drawn anew in every run: what fails once there is a finding, however often it passes afterwards. */
const FINDINGS = /propert(y|ies)[^/]*\.spec\.ts$/;
/** What the others have said is checked last, and has to be checked again when one of them says it only now. */
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

/** A run that broke down without a failed test has failed all the same. */

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
