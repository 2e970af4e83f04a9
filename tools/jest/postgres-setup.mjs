import { spawnSync } from 'node:child_process';
import { ROOT } from '../build/tree.mjs';

/**
 * Jest cannot load TypeScript modules outside its sandbox, so this runs the compiled setup. The fresh build
 * also serves the end-to-end tests, which start compiled processes.
 */
export default async function setup(globalConfig, projectConfig) {
  const build = spawnSync(process.execPath, ['tools/build.mjs', '--if-stale'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (build.status !== 0) throw new Error('the build failed');
  const { default: start } = await import('../../dist/libs/testing/database/postgres-setup.js');
  await start(globalConfig, projectConfig);
}
