/** What a broker has answered, also where kafkajs gave up after several such answers; empty where no broker has answered. */
export function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('type' in error && typeof error.type === 'string') return error.type;
  return error.cause === undefined ? '' : typeOf(error.cause);
}
