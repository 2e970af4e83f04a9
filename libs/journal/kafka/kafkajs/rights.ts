import { StartFault } from '#libs/platform/process/start-fault.js';
import { typeOf } from './broker-link.js';

/** As brokers and their tools call them. */
export type Right = 'CREATE' | 'DESCRIBE' | 'DESCRIBE_CONFIGS' | 'READ' | 'WRITE';

/** A broker only reports that something is not allowed: the same for every topic and every right. */
function missing(right: Right, topic: string): string {
  return `its user has no right to ${right} on topic ${topic}`;
}

export function isNotAllowed(error: unknown): boolean {
  return typeOf(error).endsWith('AUTHORIZATION_FAILED');
}

/** Names the right if it is missing. */
export function namingRight(right: Right, topic: string, error: unknown): unknown {
  return isNotAllowed(error) ? new Error(missing(right, topic), { cause: error }) : error;
}

const SEE = '(see the rights of each process in docs/operate/kafka.md)';

/** For a failure because of a missing right, which it names. */
export function rightMissing(named: string): StartFault {
  return new StartFault(`Kafka cannot be used: ${named} ${SEE}`);
}

/** Names the missing right if a request during start fails for lack of it. */
export async function withRight<T>(right: Right, topic: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    throw rightMissing(missing(right, topic));
  }
}
