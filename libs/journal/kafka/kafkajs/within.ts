import type { Clock } from '#libs/platform/time/clock.js';

/** What is late is lost: nobody waits for it any more, and what it says then is not listened to. */
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
