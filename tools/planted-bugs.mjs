/** Every planted bug of test/mutants has to fit the code as it is: one that does not would look for nothing any more. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './build/tree.mjs';

const FOLDER = join(ROOT, 'test/mutants');

const strange = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.patch'))
  .filter((file) => {
    const { status } = spawnSync('git', ['apply', '--check', join(FOLDER, file)], { cwd: ROOT });
    return status !== 0;
  });
for (const file of strange) console.log(`test/mutants/${file} does not fit any more: make its mistake anew`);
process.exitCode = strange.length === 0 ? 0 : 1;
