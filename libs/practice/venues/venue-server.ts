import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { pause, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { CallFault, Faults } from '../faults.js';
import { readRequest, send } from './http-exchange.js';
import type { VenueAnswer, VenueRequest, VenueShell } from './venue-shell.js';

export interface VenueServerParts {
  readonly shell: VenueShell;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

const SOCKET_BYTES = 64 * 1024;

/** The listener of one venue: HTTP and sockets of its protocol, with its armed faults. */
export class VenueServer {
  private readonly server: Server;
  private readonly sockets = new WebSocketServer({ noServer: true, maxPayload: SOCKET_BYTES });
  private reconnects: Cancel = () => undefined;
  private bound = 0;

  private constructor(private readonly parts: VenueServerParts) {
    this.server = createServer((request, response) => {
      void this.answer(request, response);
    });
    this.server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
  }

  static async open(parts: VenueServerParts, port: number): Promise<VenueServer> {
    const opened = new VenueServer(parts);
    opened.bound = port;
    await opened.listen();
    parts.faults.onDisconnect((millis) => opened.disconnect(millis));
    return opened;
  }

  get port(): number {
    return this.bound;
  }

  async close(): Promise<void> {
    this.reconnects();
    await this.cut();
  }

  private listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ port: this.bound, host: '127.0.0.1' }, () => {
        this.server.off('error', reject);
        this.bound = (this.server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  /** Cuts all connections and refuses new ones. Another call puts off the end. */
  private async disconnect(millis: number): Promise<void> {
    this.reconnects();
    if (millis === 0) {
      await this.reconnect();
      return;
    }
    this.reconnects = this.parts.clock.after(millis, () => {
      this.reconnect().catch(this.parts.onFault);
    });
    if (this.server.listening) await this.cut();
  }

  private async reconnect(): Promise<void> {
    if (!this.server.listening) await this.listen();
  }

  private cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
    for (const socket of this.sockets.clients) socket.terminate();
    this.server.closeAllConnections();
    return closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const read = await readRequest(request);
      if ('status' in read) send(response, read);
      else await this.answerRead(read, response);
    } catch (error) {
      this.parts.onFault(error);
      send(response, { status: 500 });
    }
  }

  private async answerRead(request: VenueRequest, response: ServerResponse): Promise<void> {
    const { shell, faults, clock } = this.parts;
    const fault = faults.take(shell.kindOf(request));
    if (fault?.fault === 'delay') await pause(clock, fault.ms);
    const instead = this.instead(fault, request);
    if (instead === 'cut') {
      response.destroy();
      return;
    }
    const answer = instead ?? (await shell.handle(request));
    if (fault?.fault === 'drop_reply') response.destroy();
    else if (fault?.fault === 'unreadable') response.end('{"order_id": "');
    else send(response, answer);
  }

  /** The answer of a fault that takes the venue's place. */
  private instead(fault: CallFault | undefined, request: VenueRequest): VenueAnswer | 'cut' | undefined {
    switch (fault?.fault) {
      case 'drop_request':
        return 'cut';
      case 'reject':
      case 'error':
      case 'rate_limit':
        return this.parts.shell.faulty(fault.fault, request);
      case 'delay':
      case 'drop_reply':
      case 'unreadable':
      case undefined:
        return undefined;
    }
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const asked = upgradeRequest(request);
    const refused = this.parts.shell.refuseSocket(asked);
    if (refused !== undefined) {
      socket.end(`HTTP/1.1 ${refused.status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.sockets.handleUpgrade(request, socket, head, (opened) => {
      opened.on('error', () => undefined);
      this.parts.shell.socket(opened, asked);
    });
  }
}

function upgradeRequest({ method = 'GET', url = '/', headers }: IncomingMessage): VenueRequest {
  const { pathname, searchParams } = new URL(url, 'http://venue');
  return { method, path: pathname, query: searchParams, headers, body: '' };
}
