import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

/**
 * Ports below the kernel's range for outgoing connections (32768 and up). A port of that range could be taken while its process
 * restarts, or a client that retries could even connect to itself.
 */
const FIRST = 20_000;
const LAST = 31_999;
const ATTEMPTS = 2_000;

export async function isPortFree(port: number, host: string): Promise<boolean> {
  return (await whyNotListen(port, host)) === undefined;
}

/** The error of listening on this port. Undefined if it is free. */
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

/** Picks different free ports on loopback, none of them in `avoid`. Other processes do not pick them while this one lives. */
export async function pickPorts(count: number, avoid: readonly number[] = []): Promise<number[]> {
  const found: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && found.length < count; attempt += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (!avoid.includes(port) && (await reserveFree(port)) !== undefined) found.push(port);
  }
  if (found.length < count) throw new Error(`no ${count} free ports between ${FIRST} and ${LAST}`);
  return found;
}

const LAST_PORT = 65_535;

/** Picks the first free port from `from` on that is not in `avoid`. Others do not pick it while this process lives. */
export async function firstFreePort(
  from: number,
  host: string,
  avoid: ReadonlySet<number>,
): Promise<number | undefined> {
  for (let port = from; port <= LAST_PORT; port += 1) {
    if (avoid.has(port)) continue;
    const reservation = await reserve(port);
    if (reservation === undefined) continue;
    if (await isPortFree(port, host)) return port;
    reservation.release();
  }
  return undefined;
}

/** Picks `count` consecutive free ports, and returns the first. */
export async function pickPortRange(count: number): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const first = randomInt(FIRST, LAST + 2 - count);
    const reservations: PortReservation[] = [];
    while (reservations.length < count) {
      const reservation = await reserveFree(first + reservations.length);
      if (reservation === undefined) break;
      reservations.push(reservation);
    }
    if (reservations.length === count) return first;
    for (const reservation of reservations) reservation.release();
  }
  throw new Error(`no ${count} free ports in a row between ${FIRST} and ${LAST}`);
}

interface PortReservation {
  release(): void;
}

async function reserveFree(port: number): Promise<PortReservation | undefined> {
  const reservation = await reserve(port);
  if (reservation === undefined || (await isPortFree(port, '127.0.0.1'))) return reservation;
  reservation.release();
  return undefined;
}

/**
 * Reserves a port, because tests start several clusters at once and others could pick it before it is used. The reservation is a
 * name in Linux's abstract namespace, which the kernel releases when this process ends.
 */
function reserve(port: number): Promise<PortReservation | undefined> {
  if (process.platform !== 'linux') return Promise.resolve({ release: () => undefined });
  const server = createServer().unref();
  return new Promise((resolve) => {
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen(`\0sotto-port-${port}`, () => {
      resolve({ release: () => void server.close() });
    });
  });
}
