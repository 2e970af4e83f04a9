import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const SKIPPED_FOLDERS = new Set([
  '.data',
  '.git',
  'coverage',
  'dist',
  'dist.next',
  'fixtures',
  'node_modules',
]);
const TEXT = /\.(ts|mjs|cjs|sql|md|json|ya?ml|sh)$|^(Dockerfile.*|run)$/;
const CODE = /\.(ts|mjs|cjs)$/;

/** Every file below `root` that people write, as a relative path. */
export function writtenFiles(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : writtenFiles(root, path);
      return entry.isFile() && entry.name !== 'package-lock.json' ? [path] : [];
    })
    .sort();
}

export const isText = (path) => TEXT.test(basename(path));
export const isCode = (path) => CODE.test(path);
export const isSpec = (path) => path.endsWith('.spec.ts');

/** Lines as an editor counts them: a final line break starts no new line. */
export function linesOf(root, path) {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
