/** `npm start`: compiles changes and becomes the launcher in the same process, so that signals reach it. */
import './build/node-version.mjs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const build = spawnSync(process.execPath, [join(ROOT, 'tools/build.mjs'), '--if-stale'], {
  cwd: ROOT,
  stdio: 'inherit',
});
if (build.status !== 0) process.exit(build.status ?? 1);
await import('../dist/apps/launcher/main.js');
