import type { Environment } from '#libs/platform/settings/config.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { callOf, USAGE, UsageFault } from './seed/call.js';
import { findPlace } from './seed/place.js';
import { seed } from './seed/seeding.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { asToolFault } from '#apps/cli/tool-fault.js';

const EXIT_USAGE = 64;

/** Fills a cluster for measuring. Resolves with the exit code. */
async function main(args: readonly string[], environment: Environment): Promise<number> {
  try {
    const call = callOf(args);
    if (call === undefined) {
      print(USAGE);
      return 0;
    }
    const told = await seed(call, {
      place: await findPlace(environment),
      clock: new SystemClock(),
      say: (line) => {
        mention(`seed: ${line}`);
      },
    });
    print(JSON.stringify(told));
    return 0;
  } catch (error) {
    if (error instanceof UsageFault) {
      mention(`seed: ${error.message}\n\n${USAGE}`);
      return EXIT_USAGE;
    }
    const fault = asToolFault(error);
    if (fault === undefined) throw error;
    mention(`seed: ${fault.message}`);
    return fault.exitCode;
  }
}

process.exitCode = await main(process.argv.slice(2), process.env);
