import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const DIST = join(ROOT, 'dist');

/** Campaigns are programs too. The production image has no `test/`, so missing folders are skipped. */
const SOURCE_FOLDERS = [
  'apps',
  'bench',
  'libs',
  'test/e2e/execution',
  'test/faults',
  'test/fuzz',
  'test/planted-bugs',
  'test/simulator',
];
/** Files that change the output without being compiled. */
const BUILD_INPUTS = [
  '.swcrc',
  'nest-cli.json',
  'package-lock.json',
  'tools/build.mjs',
  'tools/build/tree.mjs',
  'tools/build/tsconfig.staging.json',
  'tsconfig.json',
];

/** Paths of all files under `folder`, relative to it, in a fixed order. */
export function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function isCompiled(path) {
  return path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.endsWith('.d.ts');
}

/** Hash of everything the build reads. Uses contents, because checkouts and copies change file times. */
export function fingerprint() {
  const hash = createHash('sha256');
  const sources = SOURCE_FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    filesUnder(join(ROOT, folder))
      .filter(isCompiled)
      .map((path) => join(folder, path)),
  );
  for (const path of [...BUILD_INPUTS, ...sources]) {
    const content = readFileSync(join(ROOT, path));
    hash.update(`${path}\0${String(content.length)}\0`).update(content);
  }
  return hash.digest('hex');
}
