import { isCode, isSpec } from './tree.mjs';

// Built from parts, so that this file keeps its own rule.
const UNFINISHED = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`);
const LEFT_OUT =
  /\b(describe|it|test)(\.concurrent)?\.(only|skip|todo|failing)\b|\b(fdescribe|fit|xdescribe|xit|xtest)\(/;
const DISABLED = /eslint-disable(?!.* -- \S)/;

const RULES = [
  { applies: () => true, pattern: UNFINISHED, says: 'finish it, or open an issue' },
  { applies: isSpec, pattern: LEFT_OUT, says: 'every test runs' },
  {
    applies: (path) => isCode(path) && !path.startsWith('tools/house/'),
    pattern: DISABLED,
    says: 'say why after " -- "',
  },
];

/** Marks of unfinished work, line by line. */
export function textFaults(path, lines) {
  const rules = RULES.filter((rule) => rule.applies(path));
  return lines.flatMap((line, at) =>
    rules.filter((rule) => rule.pattern.test(line)).map((rule) => `${path}:${String(at + 1)}: ${rule.says}`),
  );
}
