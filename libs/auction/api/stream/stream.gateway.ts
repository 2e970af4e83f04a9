import { WebSocketGateway, WebSocketServer, type OnGatewayConnection } from '@nestjs/websockets';
import type { WebSocket } from 'ws';
import type { Admission, StreamServer } from './stream-server.js';

/** `GET /v1/stream`, as Nest starts and stops it. */
@WebSocketGateway()
export class StreamGateway implements OnGatewayConnection<WebSocket> {
  @WebSocketServer()
  private readonly server!: StreamServer;

  handleConnection(ws: WebSocket, admission: Admission): void {
    this.server.open(ws, admission);
  }
}
