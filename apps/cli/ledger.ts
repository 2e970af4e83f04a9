import { SystemClock } from '#libs/platform/time/system-clock.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { callOf, LEDGER } from './ledger/call.js';
import { runLedger } from './ledger/run-ledger.js';
import { openDatabase } from './open-database.js';
import { program } from './program.js';

/** What is traded and who has what to trade with: the way in which a deployment without a demo opens its ledger. */
export const ledger = program(LEDGER, async (parsed, { environment }) => {
  const call = callOf(parsed);
  // What is missing in a database that was restored beside its topics is entered before anything may start on it.
  const { url, close } = await openDatabase(environment, mention);
  try {
    await runLedger(call, { databaseUrl: url, clock: new SystemClock(), say: print });
  } finally {
    await close();
  }
  return 0;
});
