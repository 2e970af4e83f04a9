/**
 * Writes docs/licences.md: every package that the product runs on, with the licence under which it came. Out of the lock file, and
 * of the packages themselves where that does not say. `--check` only compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ROOT } from './build/tree.mjs';

const DOCUMENT = `${ROOT}docs/licences.md`;
const HEAD = `# Licences

Every package that the product runs on. What it is only built and tested with is not among them. Made by \`npm run docs:licences\` from package-lock.json; do not edit.

| Package | Version | Licence |
| - | - | - |
`;

/** Where a package says it in words only. */
function licenceOf(place, entry) {
  if (typeof entry.license === 'string') return entry.license;
  try {
    const { license, licenses } = JSON.parse(readFileSync(`${ROOT}${place}/package.json`, 'utf8'));
    return license ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

/** Rows of [name, version, licence], in the order of their names. */
export function licences() {
  const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8'));
  const rows = Object.entries(packages)
    .filter(([place, { dev, devOptional, os }]) => place !== '' && !dev && !devOptional && os === undefined)
    .map(([place, entry]) => [
      place.replace(/^.*node_modules\//, ''),
      entry.version,
      licenceOf(place, entry),
    ]);
  const unique = new Map(rows.map((row) => [row.join(' '), row]));
  return [...unique.values()].sort((a, b) => (a.join(' ') < b.join(' ') ? -1 : 1));
}

export function licencesDocument() {
  return `${HEAD}${licences()
    .map((row) => `| ${row.join(' | ')} |\n`)
    .join('')}`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(DOCUMENT, licencesDocument());
