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

/** Different free ports on the loopback interface, none of them in `avoid`. No other picker gets them while this process lives. */
export async function pickPorts(count: number, avoid: readonly number[] = []): Promise<number[]> {
  const found: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && found.length < count; attempt += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (!avoid.includes(port) && (await take(port)) !== undefined) found.push(port);
  }
  if (found.length < count) throw new Error(`no ${count} free ports between ${FIRST} and ${LAST}`);
  return found;
}

/** The first of so many free ports that follow each other. */
export async function pickPortRange(count: number): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const first = randomInt(FIRST, LAST + 2 - count);
    const claims: Claim[] = [];
    while (claims.length < count) {
      const claim = await take(first + claims.length);
      if (claim === undefined) break;
      claims.push(claim);
    }
    if (claims.length === count) return first;
    for (const claim of claims) claim.giveUp();
  }
  throw new Error(`no ${count} free ports in a row between ${FIRST} and ${LAST}`);
}

interface Claim {
  giveUp(): void;
}

async function take(port: number): Promise<Claim | undefined> {
  const claim = await claimed(port);
  if (claim === undefined || (await isPortFree(port, '127.0.0.1'))) return claim;
  claim.giveUp();
  return undefined;
}

/**
 * Between picking a port and listening on it others may pick, too: several clusters start at a time where tests run. A name in the
 * abstract namespace of Linux says that the port is spoken for; the kernel forgets it with this process.
 */
function claimed(port: number): Promise<Claim | undefined> {
  if (process.platform !== 'linux') return Promise.resolve({ giveUp: () => undefined });
  const server = createServer().unref();
  return new Promise((resolve) => {
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen(`\0sotto-port-${port}`, () => {
      resolve({ giveUp: () => void server.close() });
    });
  });
}
