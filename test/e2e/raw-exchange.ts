import { connect } from 'node:net';

const PATIENCE_MS = 4_000;

/** Sends bytes as they are and resolves with all that comes back until the other side closes, or until it has been silent for long. */
export function rawExchange(baseUrl: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', (error) => {
      if (received === '') reject(error);
    });
    socket.on('close', () => resolve(received));
  });
}
