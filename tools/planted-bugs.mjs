/** Every planted bug has to fit the code as it is: one that does not would look for nothing any more. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './build/tree.mjs';

const FOLDERS = ['test/simulator/mutants', 'test/faults/mutants'];

const strange = FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder)).map((file) => join(folder, file)))
  .filter((file) => file.endsWith('.patch'))
  .filter((file) => {
    const { status } = spawnSync('git', ['apply', '--check', join(ROOT, file)], { cwd: ROOT });
    return status !== 0;
  });
for (const file of strange) console.log(`${file} does not fit any more: make its mistake anew`);
process.exitCode = strange.length === 0 ? 0 : 1;
