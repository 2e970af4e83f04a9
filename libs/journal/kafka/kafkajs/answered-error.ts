/** What a broker has answered, also where kafkajs gave up after several such answers; empty where no broker has answered. */
export function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('type' in error && typeof error.type === 'string') return error.type;
  return error.cause === undefined ? '' : typeOf(error.cause);
}

const NOISE = 'Connection error: ';

/** kafkajs says of what the socket has said that it is an error of the connection. */
export function inPlainWords(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith(NOISE)) return error;
  return new Error(error.message.slice(NOISE.length), { cause: error.cause });
}
