import { setTimeout as sleep } from 'node:timers/promises';

const WITHIN_MS = 10_000;
const EVERY_MS = 40;

/** Retries until `look` does not throw. After the time limit its last error is the failure. */
export async function eventually<T>(look: () => T | Promise<T>, withinMs = WITHIN_MS): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(EVERY_MS);
  }
}
