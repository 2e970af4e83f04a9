/**
 * For who reads projections beside other work: whoever may write them may lock them, and what waits for them must not keep sessions from
 * what does not need them. Besides the pool.
 */
export function projectionSessions(pool: number): number {
  return Math.ceil(pool / 2);
}
