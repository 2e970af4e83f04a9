import type { Environment } from '#libs/platform/settings/config.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { asToolFault } from './tool-fault.js';
import { openDatabase } from './open-database.js';
import { callOf, USAGE, UsageFault } from './ledger/call.js';
import { runLedger } from './ledger/run-ledger.js';
import { CommandFault, EXIT_USAGE } from './ops/faults.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { tellFault } from '#libs/platform/terminal/tool-faults.js';

/** What is traded and who has what to trade with: the way in which a deployment without a demo opens its books. Resolves with the exit code. */
async function main(args: readonly string[], environment: Environment): Promise<number> {
  try {
    const call = callOf(args);
    if (call === undefined) {
      print(USAGE);
      return 0;
    }
    // What is missing in a database that was restored beside its topics is entered before anything may start on it.
    const { url, close } = await openDatabase(environment, mention);
    try {
      await runLedger(call, {
        databaseUrl: url,
        clock: new SystemClock(),
        say: print,
      });
    } finally {
      await close();
    }
    return 0;
  } catch (error) {
    return told(error, args);
  }
}

/** What can be mended is one line; anything else is a bug and stays as it is. */
function told(error: unknown, args: readonly string[]): number {
  if (error instanceof UsageFault) {
    tellFault('ledger', args, { message: error.message, help: USAGE });
    return EXIT_USAGE;
  }
  const fault = error instanceof CommandFault ? error : asToolFault(error);
  if (fault === undefined) throw error;
  tellFault('ledger', args, fault);
  return fault.exitCode;
}

process.exitCode = await main(process.argv.slice(2), process.env);
