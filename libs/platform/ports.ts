import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

/**
 * Below the range from which the kernel takes the local ports of outgoing connections (32768 and up): a port from there could
 * be taken while its process restarts, or a client that keeps knocking on it could even connect to itself.
 */
const FIRST = 20_000;
const LAST = 31_999;
const ATTEMPTS = 2_000;

export async function isPortFree(port: number, host: string): Promise<boolean> {
  return (await whyNotListen(port, host)) === undefined;
}

/** The error that listening there would meet, if any. */
export async function whyNotListen(port: number, host: string): Promise<Error | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen({ port, host, exclusive: true }, () => {
      server.close(() => {
        resolve(undefined);
      });
    });
  });
}

/** Different free ports on the loopback interface, none of them in `avoid`. */
export async function pickPorts(count: number, avoid: readonly number[] = []): Promise<number[]> {
  const found = new Set<number>();
  for (let attempt = 0; attempt < ATTEMPTS && found.size < count; attempt += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (!found.has(port) && !avoid.includes(port) && (await isPortFree(port, '127.0.0.1'))) found.add(port);
  }
  if (found.size < count) throw new Error(`no ${count} free ports between ${FIRST} and ${LAST}`);
  return [...found];
}
