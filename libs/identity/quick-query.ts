import type { QueryConfig } from 'pg';
import type { Clock } from '#libs/platform/time/clock.js';

/** Time after which a query without a reply fails and closes its connection, because the server may have vanished silently. */
export const QUICK_MS = 2_000;

export function quickly(query: QueryConfig): QueryConfig & { readonly query_timeout: number } {
  return { ...query, query_timeout: QUICK_MS };
}

/** Rejects if `work` takes longer. Its later result is ignored. */
export function within<T>(clock: Clock, millis: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(millis, () => reject(new Error(`no answer within ${millis} ms`)));
    work.then(resolve, reject).finally(cancel);
  });
}
