/** Of kafkajs's errors, what a broker has answered with, such as NOT_ENOUGH_REPLICAS; empty for all others. */
export function typeOf(error: unknown): string {
  return error instanceof Error && 'type' in error && typeof error.type === 'string' ? error.type : '';
}
