import { connect } from 'node:net';
import { recordExchange } from '#libs/testing/interface/recorder.js';

const PATIENCE_MS = 4_000;

/** Sends raw bytes and resolves with all that comes back until the other side closes, or has long been silent. */
export function rawAnswer(
  baseUrl: string,
  bytes: string | Buffer,
  patienceMs: number = PATIENCE_MS,
): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', (error) => {
      if (received === '') reject(error);
    });
    socket.on('close', () => {
      resolve(received);
    });
  });
}

/** The same, recorded for the comparison of the auctions' document with the service. */
export async function rawExchange(
  baseUrl: string,
  bytes: string | Buffer,
  patienceMs?: number,
): Promise<string> {
  const received = await rawAnswer(baseUrl, bytes, patienceMs);
  recordRaw(bytes.toString('latin1'), received);
  return received;
}

/** Records the first answer, for whatever request the bytes may be. */
export function recordRaw(sent: string, received: string): void {
  const [head = '', ...rest] = received.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? 0);
  if (status < 200) return;
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const body = rest.join('\r\n\r\n').slice(0, Number(headers['content-length'] ?? 0));
  const [method = '', path = ''] = /^([A-Z]+) (\S+) HTTP\/1\.1\r\n/.exec(sent)?.slice(1) ?? [];
  recordExchange({ method, path, requestHeaders: {}, status, headers, body });
}
