import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

/**
 * Below the kernel's range for local ports of outgoing connections (32768 and up): such a port could be taken while its process
 * restarts, or a client that keeps connecting to it could even reach itself.
 */
const FIRST = 20_000;
const LAST = 31_999;
const ATTEMPTS = 2_000;

export async function isPortFree(port: number, host: string): Promise<boolean> {
  return (await whyNotListen(port, host)) === undefined;
}

/** The error of listening there, if any. */
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

const LAST_PORT = 65_535;

/** The first free port from this one on that is not in `avoid`. No picker gets it while this process lives. */
export async function firstFreePort(
  from: number,
  host: string,
  avoid: ReadonlySet<number>,
): Promise<number | undefined> {
  for (let port = from; port <= LAST_PORT; port += 1) {
    if (avoid.has(port)) continue;
    const reservation = await reserved(port);
    if (reservation === undefined) continue;
    if (await isPortFree(port, host)) return port;
    reservation.giveUp();
  }
  return undefined;
}

/** The first of so many consecutive free ports. */
export async function pickPortRange(count: number): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const first = randomInt(FIRST, LAST + 2 - count);
    const reservations: PortReservation[] = [];
    while (reservations.length < count) {
      const reservation = await take(first + reservations.length);
      if (reservation === undefined) break;
      reservations.push(reservation);
    }
    if (reservations.length === count) return first;
    for (const reservation of reservations) reservation.giveUp();
  }
  throw new Error(`no ${count} free ports in a row between ${FIRST} and ${LAST}`);
}

interface PortReservation {
  giveUp(): void;
}

async function take(port: number): Promise<PortReservation | undefined> {
  const reservation = await reserved(port);
  if (reservation === undefined || (await isPortFree(port, '127.0.0.1'))) return reservation;
  reservation.giveUp();
  return undefined;
}

/**
 * Between picking a port and listening on it other pickers may pick it: tests start several clusters at once. A name in Linux's
 * abstract namespace reserves the port; the kernel forgets it with this process.
 */
function reserved(port: number): Promise<PortReservation | undefined> {
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
