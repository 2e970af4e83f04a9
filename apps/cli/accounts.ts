import { SystemClock } from '#libs/platform/time/system-clock.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { ACCOUNTS, callOf } from './accounts/call.js';
import { runAccounts } from './accounts/run-accounts.js';
import { openDatabase } from './open-database.js';
import { program } from './program.js';

/** Who may come in and what it may do: the way in which a deployment without a demo gets its users. */
export const accounts = program(ACCOUNTS, async (parsed, { environment }) => {
  const call = callOf(parsed);
  // An account that is missing in a database that was restored beside its topics is entered before anything may start on it.
  const { url, close } = await openDatabase(environment, mention);
  try {
    await runAccounts(call, {
      databaseUrl: url,
      clock: new SystemClock(),
      keyboard: { input: process.stdin, output: process.stderr },
      say: print,
    });
  } finally {
    await close();
  }
  return 0;
});
