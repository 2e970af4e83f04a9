import { SystemClock } from '#libs/platform/time/system-clock.js';
import { callOf, SEED } from './seed/call.js';
import { findPlace } from './seed/place.js';
import { seed } from './seed/seeding.js';
import { program } from '#apps/cli/program.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';

const seeding = program(SEED, async ({ options }, { environment }) => {
  const result = await seed(callOf(options), {
    place: await findPlace(environment),
    clock: new SystemClock(),
    say: (line) => {
      mention(`seed: ${line}`);
    },
  });
  print(JSON.stringify(result));
  return 0;
});

process.exitCode = await seeding.run(
  { environment: process.env, args: process.argv.slice(2) },
  'npm run -s seed --',
);
