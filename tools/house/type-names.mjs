import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { linesOf } from './tree.mjs';

/** Names that still stand twice, one a line. Names only ever go. */
const STILL_TWICE = 'tools/house/still-twice.txt';
const EXPORTED = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/;

/** An exported type has one name, and the name one type. Specs may name what they like. */
export function typeNameFaults(root, code) {
  const known = new Set(existsSync(join(root, STILL_TWICE)) ? linesOf(root, STILL_TWICE) : []);
  const files = new Map();
  for (const { path, lines } of code) {
    for (const [, name] of lines.map((line) => EXPORTED.exec(line) ?? [])) {
      if (name !== undefined) files.set(name, new Set(files.get(name)).add(path));
    }
  }
  const repeated = [...files].filter(([, paths]) => paths.size > 1);
  for (const [name] of repeated) if (known.delete(name)) files.delete(name);
  return [
    ...repeated
      .filter(([name]) => files.has(name))
      .map(([name, paths]) => `${[...paths].join(', ')}: the type ${name} is exported more than once`),
    ...[...known].map((name) => `${STILL_TWICE}: ${name} does not stand twice any more, take it out`),
  ];
}
