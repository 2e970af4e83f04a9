import { SystemClock } from '#libs/platform/time/system-clock.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { callOf, LEDGER } from './ledger/call.js';
import { runLedger } from './ledger/run-ledger.js';
import { openDatabase } from './open-database.js';
import { program } from './program.js';

/** How a deployment without a demo registers contracts and enters balances and limits. */
export const ledger = program(LEDGER, async (parsed, { environment }) => {
  const call = callOf(parsed);
  // Opening also enters rows that a database restored beside its topics lacks; nothing may start on it
  // before.
  const { url, close } = await openDatabase(environment, mention);
  try {
    await runLedger(call, { databaseUrl: url, clock: new SystemClock(), say: print });
  } finally {
    await close();
  }
  return 0;
});
