import type { QueryConfig } from 'pg';
import type { Clock } from '#libs/platform/time/clock.js';

/** A query whose connection is given up when no answer comes: its server may have gone without a word. */
export const QUICK_MS = 2_000;

export function quickly(query: QueryConfig): QueryConfig & { readonly query_timeout: number } {
  return { ...query, query_timeout: QUICK_MS };
}

/** Rejects when `work` takes longer; what it does then comes to nothing. */
export function within<T>(clock: Clock, millis: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(millis, () => reject(new Error(`no answer within ${millis} ms`)));
    work.then(resolve, reject).finally(cancel);
  });
}
