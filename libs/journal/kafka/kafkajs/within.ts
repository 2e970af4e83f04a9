import type { Clock } from '#libs/platform/time/clock.js';

/** Rejects when work takes longer. Its result is ignored then. */
export async function within<T>(clock: Clock, millis: number, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(millis, () => {
    reject(new Error(`no answer within ${millis} ms`));
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
    answer.catch(() => undefined);
  }
}
