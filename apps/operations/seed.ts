import type { Environment } from '#libs/platform/config.js';
import { asDatabaseFault } from '#libs/platform/database-fault.js';
import { asStartFault } from '#libs/platform/start-fault.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import { callOf, USAGE, UsageFault } from './seed/call.js';
import { findPlace } from './seed/place.js';
import { seed } from './seed/seeding.js';
import { print } from './standard-output.js';

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
        console.error(`seed: ${line}`);
      },
    });
    print(JSON.stringify(told));
    return 0;
  } catch (error) {
    if (error instanceof UsageFault) {
      console.error(`seed: ${error.message}\n\n${USAGE}`);
      return EXIT_USAGE;
    }
    const fault = asStartFault(error) ?? asDatabaseFault(error);
    if (fault === undefined) throw error;
    console.error(`seed: ${fault.message}`);
    return fault.exitCode;
  }
}

process.exitCode = await main(process.argv.slice(2), process.env);
