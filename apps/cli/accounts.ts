import { SystemClock } from '#libs/platform/time/system-clock.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { ACCOUNTS, callOf } from './accounts/call.js';
import { runAccounts } from './accounts/run-accounts.js';
import { openDatabase } from './open-database.js';
import { program } from './program.js';

/** How a deployment without a demo gets its users and their rights. */
export const accounts = program(ACCOUNTS, async (parsed, { environment }) => {
  const call = callOf(parsed);
  // Opening also enters accounts that a database restored beside its topics lacks; nothing may start on it
  // before.
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
