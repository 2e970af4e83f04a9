import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { UPGRADE_REQUIRED } from '../refusals.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { type OnGatewayConnection, WebSocketGateway, WebSocketServer } from '@nestjs/websockets';
import type { WebSocket } from 'ws';
import type { Admission, StreamServer } from './stream-server.js';

export const streamEndpoint = endpoint({
  operationId: 'openStream',
  method: 'GET',
  path: '/v1/stream',
  access: 'session',
  summary: 'Open the stream: a WebSocket handshake, see the AsyncAPI document',
  answers: { 101: { description: 'The handshake is accepted; `/asyncapi.json` describes what follows.' } },
  statuses: {
    426: ['upgrade_required'],
    429: ['stream_connection_limit'],
    503: ['draining', 'auction_owner_unavailable'],
  },
});

/** Handshakes bypass the endpoints. A request that comes here is answered that it must be a handshake. */
@Injectable()
export class StreamController {
  @Endpoint(streamEndpoint)
  open(): Reply {
    return UPGRADE_REQUIRED;
  }
}

/** `GET /v1/stream`, as a gateway that Nest starts and stops. */
@WebSocketGateway()
export class StreamGateway implements OnGatewayConnection<WebSocket> {
  @WebSocketServer()
  private readonly server!: StreamServer;

  handleConnection(ws: WebSocket, admission: Admission): void {
    this.server.open(ws, admission);
  }
}
