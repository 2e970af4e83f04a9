import type { QueryConfig } from 'pg';
import type { Clock } from '#libs/platform/time/clock.js';

/** A query that closes its connection after a time without a reply: its server may have vanished silently. */
export const QUICK_MS = 2_000;

export function quickly(query: QueryConfig): QueryConfig & { readonly query_timeout: number } {
  return { ...query, query_timeout: QUICK_MS };
}

/** Rejects if `work` takes longer; its later result is ignored. */
export function within<T>(clock: Clock, millis: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(millis, () => reject(new Error(`no answer within ${millis} ms`)));
    work.then(resolve, reject).finally(cancel);
  });
}
