import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { nextTurn, type Clock } from '#libs/platform/time/clock.js';
import { isGoodToken } from '#libs/platform/internal-server/good-token.js';
import { noTracing, type Span, type Tracing } from '#libs/platform/tracing/tracing.js';
import { FrameBatch } from './frame-batch.js';
import { textOf } from './frame-text.js';
import { watchPulse } from './link-pulse.js';
import type { LinkSocket } from './link-socket.js';
import { NoticeSlot, written, type WrittenNotice } from './notice-slot.js';
import {
  ACTIVE_ONLY_HEADER,
  codeOf,
  LINK_PATH,
  MAX_FRAME_BYTES,
  NOTICES_HEADER,
  PEER_HEADER,
  READ_FALLBACK_HEADER,
  SERVICE_TOKEN_HEADER,
  type LinkNotice,
  type LinkPeer,
  type LinkReply,
  type LinkRequest,
} from '#libs/auction/protocol/protocol.js';

type RequestEntry = [id: number, request: LinkRequest, traceparent?: unknown];

export type LinkHandler = (request: LinkRequest, peer: LinkPeer) => Promise<LinkReply>;

export interface LinkServerOptions {
  /** All tokens that are good at present: two while one replaces the other. */
  readonly serviceTokens: () => readonly string[];
  readonly handle: LinkHandler;
  readonly onFault: (error: unknown, peer: string) => void;
  readonly clock: Clock;
  readonly maxConnections?: number;
  /** Continues the traces of peers; without it they end with them. */
  readonly tracing?: Tracing;
}

/** A peer that does not read its replies is cut off before they fill the memory. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** With more than this still unread a peer is told of the head later, when it has read. */
const NOTICE_PATIENCE_BYTES = 64 * 1024;
const POLICY_VIOLATION = 1008;
/** For the other end to go by itself. */
const GOODBYE_MILLIS = 1_000;
const INTERNAL_ERROR: LinkReply = { status: 500, body: '{"error":"internal_error"}' };

/** The owner's end of the link, on the HTTP server of its internal listener. */
export class LinkServer {
  private readonly sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    skipUTF8Validation: true,
  });

  /** Peers that are connected, each with the token that it has shown. */
  private readonly served = new Map<LinkSocket, string | undefined>();
  /** One for each peer that wants to hear of the head. */
  private readonly listeners = new Set<(notice: WrittenNotice) => void>();
  private head: number | undefined;

  private readonly tracing: Tracing;

  constructor(private readonly options: LinkServerOptions) {
    this.tracing = options.tracing ?? noTracing;
  }

  /** Tells whoever listens; and whoever comes to listen, of the latest head. */
  announce(notice: LinkNotice): void {
    this.head = notice.head;
    if (this.listeners.size === 0) return;
    const told = written(notice);
    for (const tell of this.listeners) tell(told);
  }

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const refusal = this.refusal(request);
      if (refusal !== undefined) {
        this.refuse(socket, refusal);
        return;
      }
      this.sockets.handleUpgrade(request, socket, head, (ws) => {
        this.serve(ws, request.headers);
      });
    });
  }

  /** Replies that are on their way still leave; then the peers are told to go. */
  async close(): Promise<void> {
    await nextTurn();
    for (const ws of this.served.keys()) ws.close(1001);
    this.sockets.close();
  }

  /** Ends every connection at once, with nothing more said. */
  cut(): void {
    for (const ws of this.served.keys()) ws.terminate();
    this.sockets.close();
  }

  /** Peers whose token is no longer good are sent away, and cut off where they do not go; one that has another comes back at once. */
  dropRevoked(): void {
    const { clock, serviceTokens } = this.options;
    const good = serviceTokens();
    for (const [ws, token] of this.served) {
      if (isGoodToken(token, good)) continue;
      ws.close(POLICY_VIOLATION);
      clock.after(GOODBYE_MILLIS, () => {
        ws.terminate();
      });
    }
  }

  /** Node has let go of the socket: nobody else would hear of it that the peer has gone, nor let go of one that stays. */
  private refuse(socket: Duplex, refusal: string): void {
    socket.on('error', () => socket.destroy());
    socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    const cancel = this.options.clock.after(GOODBYE_MILLIS, () => socket.destroy());
    socket.once('close', cancel);
  }

  private refusal(request: IncomingMessage): string | undefined {
    if (request.url !== LINK_PATH) return '404 Not Found';
    if (!isGoodToken(request.headers[SERVICE_TOKEN_HEADER], this.options.serviceTokens()))
      return '403 Forbidden';
    if (typeof request.headers[PEER_HEADER] !== 'string') return '400 Bad Request';
    if (this.served.size >= (this.options.maxConnections ?? 256)) return '503 Service Unavailable';
    return undefined;
  }

  /** Answers a peer that has shown its token, over a socket that is open. */
  serve(ws: LinkSocket, headers: IncomingHttpHeaders): void {
    const peer = peerOf(headers);
    const token = headers[SERVICE_TOKEN_HEADER];
    this.served.set(ws, typeof token === 'string' ? token : undefined);
    ws.on('close', () => {
      this.served.delete(ws);
    });
    watchPulse(ws, this.options.clock);
    const slot = new NoticeSlot();
    const replies: FrameBatch = new FrameBatch(
      (frame) => {
        send(ws, frame, () => {
          if (slot.isFilled) replies.flushSoon();
        });
      },
      () => (ws.bufferedAmount > NOTICE_PATIENCE_BYTES ? undefined : slot.take()),
    );
    if (headers[NOTICES_HEADER] === 'true') this.listen(ws, slot, replies);
    ws.on('error', (error) => {
      this.options.onFault(error, peer.name);
    });
    ws.on('message', (data) => {
      // Whoever was told to go may go on talking: nobody hears it.
      if (ws.readyState !== WebSocket.OPEN) return;
      const requests = parseRequests(textOf(data));
      if (requests === undefined) {
        this.options.onFault(new Error('an unreadable frame'), peer.name);
        ws.close(1002);
        return;
      }
      for (const entry of requests) this.answer(entry, peer, replies);
    });
  }

  private listen(ws: LinkSocket, slot: NoticeSlot, replies: FrameBatch): void {
    const tell = (notice: WrittenNotice): void => {
      slot.put(notice);
      replies.flushSoon();
    };
    this.listeners.add(tell);
    ws.on('close', () => {
      this.listeners.delete(tell);
    });
    if (this.head !== undefined) tell({ head: this.head });
  }

  private answer([id, request, traceparent]: RequestEntry, peer: LinkPeer, replies: FrameBatch): void {
    const span = this.tracing.continued(request.op, traceparent);
    const answered =
      span === undefined ? this.options.handle(request, peer) : this.traced(span, request, peer);
    answered.then(
      (answer) => {
        replies.add(entryOf(id, answer));
      },
      (error: unknown) => {
        this.options.onFault(error, peer.name);
        replies.add(entryOf(id, INTERNAL_ERROR));
      },
    );
  }

  private async traced(span: Span, request: LinkRequest, peer: LinkPeer): Promise<LinkReply> {
    span.set({ operation: request.op });
    if ('request_id' in request) span.set({ requestId: request.request_id });
    let reply = INTERNAL_ERROR;
    try {
      reply = await this.tracing.within(span, () => this.options.handle(request, peer));
      return reply;
    } finally {
      span.set({ status: reply.status, code: codeOf(reply) });
      span.end();
    }
  }
}

/** What an operation asks for is taken on the peer's word: it has shown that it is one of us. */
function parseRequests(text: string): RequestEntry[] | undefined {
  try {
    const frame: unknown = JSON.parse(text);
    return Array.isArray(frame) && frame.every(isRequestEntry) ? frame : undefined;
  } catch {
    return undefined;
  }
}

function isRequestEntry(entry: unknown): entry is RequestEntry {
  if (!Array.isArray(entry) || typeof entry[0] !== 'number') return false;
  const request: unknown = entry[1];
  return typeof request === 'object' && request !== null && 'op' in request;
}

function peerOf(headers: IncomingHttpHeaders): LinkPeer {
  return {
    name: String(headers[PEER_HEADER]),
    activeOnly: headers[ACTIVE_ONLY_HEADER] === 'true',
    readFallback: headers[READ_FALLBACK_HEADER] === 'true',
  };
}

function entryOf(id: number, { status, body }: LinkReply): string {
  return `[${id},${status},${JSON.stringify(body)}]`;
}

function send(ws: LinkSocket, frame: string, sent: () => void): void {
  if (ws.readyState !== WebSocket.OPEN) return;
  if (ws.bufferedAmount > MAX_BUFFERED_BYTES) ws.terminate();
  else ws.send(frame, sent);
}
