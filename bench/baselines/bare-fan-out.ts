import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

/**
 * Forwards every message of one client to all others, and acknowledges it. Runs as a process of its own and
 * prints its port.
 */
const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket, request) => {
  if (request.headers.authorization !== 'Bearer driver') return;
  socket.on('message', (data: Buffer) => {
    const text = data.toString();
    for (const listener of sockets.clients) if (listener !== socket) listener.send(text);
    socket.send('{"type":"done"}');
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(address?.port);
});
