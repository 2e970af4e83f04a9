import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readRequest, send } from '../venues/http-exchange.js';
import type { AdminSurface } from './admin-surface.js';

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on loopback only, because any caller may do anything to the practice venues. */
export async function openAdminServer(
  surface: Pick<AdminSurface, 'handle'>,
  port: number,
  onFault: (error: unknown) => void,
): Promise<AdminServer> {
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      onFault(error);
      send(response, { status: 500, body: { error: 'the practice venues failed to answer this request' } });
    });
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const read = await readRequest(request);
    send(response, 'path' in read ? await surface.handle(read) : read);
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: (server.address() as AddressInfo).port, close };
}
