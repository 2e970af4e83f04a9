import ts from 'typescript';

/** These limits may only be lowered. */
const LIMITS = { fileMedian: 80, fileNinetieth: 250, fileMost: 500, functionNinetieth: 45 };

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Lengths in lines of all functions with a body. */
export function functionLengths(text) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, false);
  const lengths = [];
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      lengths.push(lineAt(node.end) - lineAt(node.getStart(source)) + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lengths;
}

/** `files`: `{path, lines}` of all code. `functions`: lengths of production functions. */
export function sizeReport(files, functions) {
  const lengths = files.map(({ lines }) => lines).sort((a, b) => a - b);
  const bodies = [...functions].sort((a, b) => a - b);
  const measured = {
    fileMedian: quantile(lengths, 0.5),
    fileNinetieth: quantile(lengths, 0.9),
    fileMost: lengths.at(-1) ?? 0,
    functionNinetieth: quantile(bodies, 0.9),
  };
  const faults = files
    .filter(({ lines }) => lines > LIMITS.fileMost)
    .map(({ path, lines }) => `${path}: ${String(lines)} lines, the limit is ${String(LIMITS.fileMost)}`);
  const warnings = ['fileMedian', 'fileNinetieth', 'functionNinetieth']
    .filter((name) => measured[name] >= LIMITS[name])
    .map((name) => `${name} is ${String(measured[name])}, it should stay under ${String(LIMITS[name])}`);
  return { measured, faults, warnings };
}
