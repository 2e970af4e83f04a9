import type { WebSocketAdapter } from '@nestjs/common';
import type { WebSocket } from 'ws';
import type { Admission, StreamServer } from './stream-server.js';

/**
 * Nest's WebSockets on the edge's handshakes. It opens no listener and no path of its own: what arrives has passed the checks of every
 * request and has a caller. Messages are not bound by name: connections read them strictly, in order and within bounds.
 */
export class StreamSocketAdapter implements WebSocketAdapter<StreamServer, WebSocket> {
  constructor(private readonly server: StreamServer) {}

  create(): StreamServer {
    return this.server;
  }

  bindClientConnect(server: StreamServer, connected: (ws: WebSocket, admission: Admission) => void): void {
    server.onConnected(connected);
  }

  bindMessageHandlers(): void {
    // There are none.
  }

  /** Before the listener is closed, which waits for every connection. */
  close(server: StreamServer): Promise<void> {
    return server.drain();
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }
}
