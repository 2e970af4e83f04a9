import { enableCompileCache } from 'node:module';
import path from 'node:path';
import { nextTurn } from '../time/clock.js';
import type { Environment } from '../settings/config.js';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Beside the compiled modules: a new build begins without it, and a read-only folder has none. */
const COMPILED = path.join(import.meta.dirname, '../../../.compiled');

interface Program {
  /** Takes the signals over before it returns. */
  run(env: Environment): void;
}

/**
 * Loading the modules of a process takes several hundred milliseconds, in which a signal would kill it. Nothing is open yet, so a
 * process that is told to stop meanwhile just ends. V8's compile cache, if it can be stored, saves a fifth.
 */
export async function runUnlessStopped(env: Environment, load: () => Promise<Program>): Promise<void> {
  const leave = (): void => process.exit(0);
  for (const signal of SIGNALS) process.on(signal, leave);
  enableCompileCache(COMPILED);
  const program = await load();
  // A signal arrives when the event loop has polled, which has happened for certain after the second turn.
  await nextTurn();
  await nextTurn();
  program.run(env);
  for (const signal of SIGNALS) process.off(signal, leave);
}
