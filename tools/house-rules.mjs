/** Checks that no other tool makes: names, duplicate types, unfinished work, words of prose, sizes. */
import { resolve } from 'node:path';
import { nameFaults } from './house/names.mjs';
import { functionLengths, sizeReport } from './house/sizes.mjs';
import { textFaults } from './house/texts.mjs';
import { isCode, isSpec, isText, linesOf, writtenFiles } from './house/tree.mjs';
import { typeNameFaults } from './house/type-names.mjs';
import { proseFaults } from './house/words.mjs';

const root = resolve(process.argv[2] ?? '.');
const texts = writtenFiles(root)
  .filter(isText)
  .map((path) => ({ path, lines: linesOf(root, path) }));
const code = texts.filter(({ path }) => isCode(path));
const typed = code.filter(({ path }) => /^(apps|libs|bench|test)\//.test(path) && !isSpec(path));
const inProduction = code.filter(({ path }) => /^(apps|libs)\//.test(path) && !isSpec(path));

const sizes = sizeReport(
  code.map(({ path, lines }) => ({ path, lines: lines.length })),
  inProduction.flatMap(({ lines }) => functionLengths(lines.join('\n'))),
);
const faults = [
  ...writtenFiles(root).flatMap(nameFaults),
  ...texts.flatMap(({ path, lines }) => [...textFaults(path, lines), ...proseFaults(path, lines)]),
  ...typeNameFaults(typed),
  ...sizes.faults,
];

for (const warning of sizes.warnings) console.log(`warning: ${warning}`);
for (const fault of faults) console.error(fault);
const { fileMedian, fileNinetieth, fileMost, functionNinetieth } = sizes.measured;
console.log(
  `${String(code.length)} files of code: median ${String(fileMedian)} lines, nine in ten up to ${String(fileNinetieth)}, ` +
    `longest ${String(fileMost)}; nine in ten functions up to ${String(functionNinetieth)} lines`,
);
process.exitCode = faults.length > 0 ? 1 : 0;
