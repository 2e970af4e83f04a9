import type { Server } from 'node:http';
import { networkOf } from '#libs/platform/network-of.js';

/** Closes what one network address opens past its share, as Node does past the bound of all. */
export function boundConnectionsPerAddress(server: Server, limit: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const count = (open.get(network) ?? 0) + 1;
    open.set(network, count);
    socket.once('close', () => {
      const left = (open.get(network) ?? 0) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
    if (count > limit) socket.destroy();
  });
}
