/**
 * Sessions for reading projections, besides the pool. A writer of projections may lock them, and readers that wait must not keep
 * sessions from work that does not need projections.
 */
export function projectionSessions(pool: number): number {
  return Math.ceil(pool / 2);
}
