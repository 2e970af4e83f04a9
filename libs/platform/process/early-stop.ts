import { enableCompileCache } from 'node:module';
import path from 'node:path';
import { nextTurn } from '../time/clock.js';
import type { Environment } from '../settings/config.js';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Beside the compiled modules that it is of: a new build begins without it, and where nothing may be written there is none. */
const COMPILED = path.join(import.meta.dirname, '../../../.compiled');

interface Program {
  /** Takes the signals over before it returns. */
  run(env: Environment): void;
}

/**
 * Loading the modules of a process takes several hundred milliseconds, in which a signal would kill it. Nothing is open yet, so there
 * is nothing to stop: whoever is told to end meanwhile just does. Where what V8 makes of the modules can be kept it is a fifth less.
 */
export async function runUnlessStopped(env: Environment, load: () => Promise<Program>): Promise<void> {
  const leave = (): void => process.exit(0);
  for (const signal of SIGNALS) process.on(signal, leave);
  enableCompileCache(COMPILED);
  const program = await load();
  // A signal is heard when the event loop has polled, which it has for certain behind the second turn.
  await nextTurn();
  await nextTurn();
  program.run(env);
  for (const signal of SIGNALS) process.off(signal, leave);
}
