/** What a broker has answered, also where kafkajs gave up after several such answers, or tells them topic by topic; empty where none has. */
export function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('type' in error && typeof error.type === 'string') return error.type;
  if ('errors' in error && Array.isArray(error.errors)) return typeOf(error.errors[0]);
  return error.cause === undefined ? '' : typeOf(error.cause);
}

const NOISE = 'Connection error: ';

/** kafkajs says of what the socket has said that it is an error of the connection, and OpenSSL ends what it says with a line break. */
export function inPlainWords(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { message, cause } = error;
  const said = message.startsWith(NOISE) ? message.slice(NOISE.length) : message;
  const words = said.replaceAll(/\s*\n\s*/g, ' ').trim();
  return words === message ? error : new Error(words, { cause });
}
