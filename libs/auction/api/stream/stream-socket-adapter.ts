import type { WebSocketAdapter } from '@nestjs/common';
import type { WebSocket } from 'ws';
import type { Admission, StreamServer } from './stream-server.js';

/**
 * Connects Nest's WebSockets to the gateway's handshakes. It opens no listener and no path: each socket has passed
 * the checks of HTTP requests. Messages are not bound by name, because connections parse them strictly and in
 * order.
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

  /** Drains before the listener is closed, because closing waits for every connection. */
  close(server: StreamServer): Promise<void> {
    return server.drain();
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }
}
