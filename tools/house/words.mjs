import { isCode } from './tree.mjs';

// Put together from parts, so that this file keeps its own rule.
const WORDS = [
  ['no' + 'body', 'name who does not: "no caller", "no process"'],
  ['some' + 'body', 'name who does: "another process", "an operator"'],
  ['who' + 'ever', 'say "anyone who", or name who does'],
  ['whoso' + 'ever', 'say "anyone who", or name who does'],
  ['of ' + 'which', 'make it two sentences'],
  ['of ' + 'whom', 'make it two sentences'],
  ['by ' + 'now', 'say "already", or leave it out'],
  ['ane' + 'w', 'say "again"'],
];
/** Before a noun; that something falls or lies so many records back is rightly said. */
const AFTER = `be${'hind'}(?= (?:it|them|the|an?|any|each|every|one|this|that|these|those|its|their|which|what|whom|others?|another)\\b)`;
const OLD = new RegExp(`\\b(${[...WORDS.map(([word]) => word), AFTER].join('|')})\\b`, 'i');
const INSTEAD = new Map(WORDS);
/** A machine that hides others is rightly said to have them at its back. */
const PROXY = new RegExp(
  `be${'hind'} (a|an|the|its|one|such a) (\\w+ )?(proxy|proxies|load balancer|balancer|firewall)`,
  'gi',
);
const MOST_LINES = 3;
const PARTS = /\/\*[^]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** Comments of a file of code, and its texts of more than one word, each with its line. */
function proseOf(text) {
  const found = [];
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    const isComment = part.startsWith('/*') || part.startsWith('//');
    if (isComment || / \w+ /.test(part)) found.push({ part, line: text.slice(0, index).split('\n').length });
  }
  return found;
}

function wordFaultsIn(path, part, first) {
  return part
    .replaceAll(PROXY, '')
    .split('\n')
    .flatMap((line, at) => {
      const [, word] = OLD.exec(line) ?? [];
      if (word === undefined) return [];
      return [
        `${path}:${String(first + at)}: "${word}": ${INSTEAD.get(word.toLowerCase()) ?? 'say "after"'}`,
      ];
    });
}

/** Comments of more than three lines, the marks of a block comment not counted. */
function lengthFaults(path, lines) {
  const faults = [];
  let length = 0;
  for (const [at, line] of [...lines, ''].entries()) {
    const says = /^\s*(\/\/|\/?\*+)(.*)$/.exec(line);
    if (says === null) {
      if (length > MOST_LINES) faults.push(`${path}:${String(at)}: a comment has at most three lines`);
      length = 0;
    } else if (!/^\s*\/?\**\/?\s*$/.test(line)) length += 1;
  }
  return faults;
}

/** Words that mark prose only its author can read, in comments, texts and documents; and comments that go on. */
export function proseFaults(path, lines) {
  const text = lines.join('\n');
  if (!isCode(path)) return path.endsWith('.md') ? wordFaultsIn(path, text, 1) : [];
  return [
    ...proseOf(text).flatMap(({ part, line }) => wordFaultsIn(path, part, line)),
    ...lengthFaults(path, lines),
  ];
}
