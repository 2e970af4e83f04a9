import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { ClientCredentials } from './client-connection.js';
import type { ConnectionHub } from './connection-hub.js';
import { Departures } from './departures.js';
import type { SessionHolder } from './session-guard.js';
import { StreamWebSocket } from './web-socket.js';

/** A longer frame is closed with 1009 by the WebSocket library. */
const MAX_FRAME_BYTES = 64 * 1024;
const SUBPROTOCOL = 'authorization';
const NO_CLOSE_FRAME = 1006;
/** How long clients that were told to go are waited for. */
const DRAIN_MILLIS = 1_000;

/** Makes sockets of handshakes that may come in, and connections of sockets. */
export class SocketServer<Who extends SessionHolder, Addressee> {
  private readonly sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    clientTracking: false,
    // By itself it cuts off whoever sends many pings at once.
    autoPong: false,
    handleProtocols: (protocols) => (protocols.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  private readonly departures = new Departures();
  private isUnreadable = false;

  constructor(
    readonly hub: ConnectionHub<Who, Addressee>,
    private readonly onFault: (error: unknown) => void,
  ) {
    // By itself it would answer in words of its own.
    this.sockets.on('wsClientError', () => {
      this.isUnreadable = true;
    });
  }

  /** Everybody goes: to another process, if there is one. */
  drain(): Promise<void> {
    return this.hub.drain(DRAIN_MILLIS);
  }

  /** False for a handshake that the WebSocket library cannot read. */
  upgrade(request: IncomingMessage, wire: Duplex, head: Buffer, upgraded: (ws: WebSocket) => void): boolean {
    this.isUnreadable = false;
    this.sockets.handleUpgrade(request, wire, head, upgraded);
    return !this.isUnreadable;
  }

  /** In the same turn as the handshake, so that no message comes before somebody hears it. */
  open(ws: WebSocket, wire: Duplex, credentials: ClientCredentials<Who>): void {
    ws.on('error', () => undefined);
    try {
      this.attach(ws, new StreamWebSocket(ws, wire, this.departures), credentials);
    } catch (error) {
      // Whoever called has no use for it, and a process must not end by one socket.
      this.onFault(error);
      ws.terminate();
    }
  }

  private attach(ws: WebSocket, ours: StreamWebSocket, credentials: ClientCredentials<Who>): void {
    const connection = this.hub.open(ours, credentials);
    ws.on('message', (data, isBinary) => {
      try {
        if (isBinary) connection.onBinary();
        else connection.onText(textOf(data));
      } catch (error) {
        this.onFault(error);
        ws.terminate();
      }
    });
    ws.on('ping', (data) => {
      connection.onAlive();
      ours.pongTo(data);
    });
    ws.on('pong', () => {
      connection.onAlive();
    });
    ws.on('close', (code) => {
      this.hub.closed(connection, ours.closedWith ?? (code === 0 ? NO_CLOSE_FRAME : code));
    });
  }
}

function textOf(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString() : '';
}
