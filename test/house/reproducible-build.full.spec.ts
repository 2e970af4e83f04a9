import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ROOT, runTool } from './tool.js';

const SOURCES = [
  '.swcrc',
  'nest-cli.json',
  'package.json',
  'package-lock.json',
  'tools',
  'tsconfig.json',
  'apps',
  'libs',
  'bench',
];
/** Says when and of what dist was made: for the next build, and for nothing that runs. */
const NOT_SHIPPED = new Set(['.build-stamp']);

const trees: string[] = [];
let built: Map<string, string>[];

/** In folders of different names and depth, from files of different ages. */
beforeAll(async () => {
  built = [];
  for (const [place, age] of [
    ['a', 0],
    ['another/and/deeper', 86_400],
  ] as const) {
    const base = mkdtempSync(join(tmpdir(), 'reproducible-'));
    trees.push(base);
    const tree = join(base, place);
    for (const path of SOURCES) cpSync(join(ROOT, path), join(tree, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    const then = statSync(join(tree, 'package.json')).mtimeMs / 1_000 - age;
    utimesSync(join(tree, 'package.json'), then, then);
    expect(await runTool(join(tree, 'tools/build.mjs'), [], tree)).toMatchObject({ exitCode: 0 });
    built.push(hashesOf(join(tree, 'dist')));
  }
}, 120_000);

afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true, force: true });
});

function hashesOf(dist: string): Map<string, string> {
  const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !NOT_SHIPPED.has(entry.name),
  );
  const hashes = files.map(({ parentPath, name }): [string, string] => {
    const path = join(parentPath, name);
    return [path.slice(dist.length + 1), createHash('sha256').update(readFileSync(path)).digest('hex')];
  });
  return new Map(hashes.sort(([a], [b]) => (a < b ? -1 : 1)));
}

it('gives the same bytes wherever and whenever it is made', () => {
  const [one, other] = built;
  expect(one?.size).toBeGreaterThan(500);
  expect([...(other ?? [])]).toEqual([...(one ?? [])]);
});
