import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer, type RawData } from 'ws';

/** What the proxy does to bodies and frames. A part that is left out changes nothing. */
export interface Meddling {
  /** Instead of a reply: no reply ever, half of it and then the end of the connection, or a page with this status. */
  readonly answers?: 'hang' | 'cut' | { readonly status: number; readonly body: string };
  readonly body?: (body: string, path: string) => string;
  /** The frames to pass on in place of a frame from the server. Pings are still answered. */
  readonly frame?: (frame: string) => readonly string[];
}

/** An HTTP and WebSocket proxy that can change or break what it carries. */
export class MeddlingProxy {
  private meddling: Meddling = {};
  private sockets = new Set<{ readonly near: WebSocket; readonly far: WebSocket }>();
  private readonly acceptor = new WebSocketServer({ noServer: true });
  private readonly server = createServer((request, response) => {
    this.carry(request, response).catch(() => response.destroy());
  });
  /** The number of sockets that were ever opened through the proxy. */
  opened = 0;
  requests = 0;

  private constructor(private readonly target: string) {}

  static async open(port: number): Promise<MeddlingProxy> {
    const proxy = new MeddlingProxy(`127.0.0.1:${String(port)}`);
    proxy.server.on('upgrade', (request, socket, head) => {
      proxy.acceptor.handleUpgrade(request, socket, head, (near) => proxy.join(near, request));
    });
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  meddle(meddling: Meddling): void {
    this.meddling = meddling;
  }

  /** Breaks all connections. */
  cut(): void {
    for (const { near, far } of this.sockets) {
      near.terminate();
      far.terminate();
    }
    this.server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private async carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const { method = 'GET', url = '/' } = request;
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const { answers } = this.meddling;
    if (answers === 'hang') return;
    if (typeof answers === 'object') {
      response.writeHead(answers.status, { 'content-type': 'text/html' }).end(answers.body);
      return;
    }
    const sent = method === 'GET' ? {} : { body: Buffer.concat(parts) };
    const reply = await fetch(`http://${this.target}${url}`, { method, ...sent });
    const text = await reply.text();
    const body = Buffer.from(this.meddling.body?.(text, `${url} ${Buffer.concat(parts).toString()}`) ?? text);
    response.writeHead(reply.status, { 'content-type': 'application/json', 'content-length': body.length });
    if (answers !== 'cut') response.end(body);
    else response.write(body.subarray(0, body.length / 2), () => response.destroy());
  }

  private join(near: WebSocket, { url = '/', headers }: IncomingMessage): void {
    const kept = Object.entries(headers).filter(([name]) => name.startsWith('kalshi-'));
    const far = new WebSocket(`ws://${this.target}${url}`, {
      headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
    });
    const link = { near, far };
    const waiting: string[] = [];
    this.opened += 1;
    this.sockets.add(link);
    near.on('message', (data) => {
      if (far.readyState === WebSocket.OPEN) far.send(textOf(data));
      else waiting.push(textOf(data));
    });
    far.on('open', () => {
      for (const text of waiting) far.send(text);
    });
    far.on('message', (data) => {
      const frame = textOf(data);
      for (const text of this.meddling.frame?.(frame) ?? [frame]) near.send(text);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => {
        this.sockets.delete(link);
        other.terminate();
      });
    }
  }
}

function textOf(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString('utf8') : '';
}
