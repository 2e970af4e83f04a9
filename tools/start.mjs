/** `npm start`: compiles what has changed and becomes the launcher, in this very process, so that signals reach it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const OLDEST = [22, 12];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(
    `sotto: Node ${OLDEST.join('.')} or newer is needed, this is ${process.versions.node}: run \`npm ci\` and \`npm start\``,
  );
  process.exit(78);
}

const build = spawnSync(process.execPath, [join(ROOT, 'tools/build.mjs'), '--if-stale'], {
  cwd: ROOT,
  stdio: 'inherit',
});
if (build.status !== 0) process.exit(build.status ?? 1);
await import('../dist/apps/launcher/main.js');
