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
/** Time for clients to leave by themselves. */
const DRAIN_MILLIS = 1_000;

/** Upgrades admitted handshakes to sockets, and opens a connection on each socket. */
export class SocketServer<Holder extends SessionHolder, Addressee> {
  private readonly sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    clientTracking: false,
    // The library's own pong cuts off a client that sends many pings at once.
    autoPong: false,
    handleProtocols: (protocols) => (protocols.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  private readonly departures = new Departures();
  private isUnreadable = false;

  constructor(
    readonly hub: ConnectionHub<Holder, Addressee>,
    private readonly onFault: (error: unknown) => void,
  ) {
    // Without a listener the library would answer with its own text.
    this.sockets.on('wsClientError', () => {
      this.isUnreadable = true;
    });
  }

  /** Sends all clients away, so that they connect to another process. */
  drain(): Promise<void> {
    return this.hub.drain(DRAIN_MILLIS);
  }

  /** False for a handshake that the WebSocket library cannot read. */
  upgrade(request: IncomingMessage, wire: Duplex, head: Buffer, upgraded: (ws: WebSocket) => void): boolean {
    this.isUnreadable = false;
    this.sockets.handleUpgrade(request, wire, head, upgraded);
    return !this.isUnreadable;
  }

  /** Must be called in the same turn as the handshake, so that a listener is there before the first message. */
  open(ws: WebSocket, wire: Duplex, credentials: ClientCredentials<Holder>): void {
    ws.on('error', () => undefined);
    try {
      this.attach(ws, new StreamWebSocket(ws, wire, this.departures), credentials);
    } catch (error) {
      // The caller cannot handle it, and one socket must not end the process.
      this.onFault(error);
      ws.terminate();
    }
  }

  private attach(ws: WebSocket, ours: StreamWebSocket, credentials: ClientCredentials<Holder>): void {
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
