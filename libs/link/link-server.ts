import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { type Clock, nextTurn } from '#libs/platform/time/clock.js';
import { isValidToken } from '#libs/platform/internal-server/internal-server.js';
import { PEER_HEADER, SERVICE_TOKEN_HEADER } from '#libs/platform/internal-server/internal-host.js';
import { inSpan, noTracing, type Span, type Tracing } from '#libs/platform/tracing/tracing.js';
import { FrameBatch } from './frame-batch.js';
import {
  factsOf,
  fault,
  LINK_PATH,
  type LinkPeer,
  type LinkReply,
  type LinkRequest,
  MAX_FRAME_BYTES,
  NOTICES_HEADER,
} from './link-protocol.js';
import { watchPulse } from './link-pulse.js';
import { type LinkSocket, textOf } from './link-socket.js';
import type { NoticeSource, PeerNotices } from './notices.js';

type RequestEntry<Request> = [id: number, request: Request, traceparent?: unknown];

export interface LinkServerOptions<Request extends LinkRequest> {
  /** All tokens that are valid now: two while one replaces the other. */
  readonly serviceTokens: () => readonly string[];
  readonly handle: (request: Request, peer: LinkPeer) => Promise<LinkReply>;
  readonly onFault: (error: unknown, peer: string) => void;
  readonly clock: Clock;
  /** The notices for the peers that want them. */
  readonly notices?: NoticeSource;
  readonly maxConnections?: number;
  /** Parses a frame, as JSON by default: the opposite of the clients' `write`. */
  readonly read?: (frame: string) => unknown;
  /** Continues the traces of peers. Without it they end here. */
  readonly tracing?: Tracing;
}

/** A peer with more unread replies than this is disconnected, before they fill the memory. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** A peer with more unread bytes than this gets its notices later. */
const NOTICE_PATIENCE_BYTES = 64 * 1024;
const POLICY_VIOLATION = 1008;
/** How long the other end may take to close by itself. */
const CLOSE_MILLIS = 1_000;
const INTERNAL_ERROR = fault(500, 'internal_error');

/** Answers requests of links, on the HTTP server of an internal listener. */
export class LinkServer<Request extends LinkRequest> {
  private readonly sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    skipUTF8Validation: true,
  });

  /** Connected peers, each with the token that it presented. */
  private readonly peerTokens = new Map<LinkSocket, string | undefined>();
  private readonly tracing: Tracing;

  constructor(private readonly options: LinkServerOptions<Request>) {
    this.tracing = options.tracing ?? noTracing;
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

  /** Sends the replies of this turn, then closes all connections. */
  async close(): Promise<void> {
    await nextTurn();
    for (const ws of this.peerTokens.keys()) ws.close(1001);
    this.sockets.close();
  }

  /** Terminates all connections at once. Sends nothing more. */
  cut(): void {
    for (const ws of this.peerTokens.keys()) ws.terminate();
    this.sockets.close();
  }

  /** Closes, and after a second terminates, connections whose token is no longer valid. A peer with a valid one reconnects. */
  dropRevoked(): void {
    const { clock, serviceTokens } = this.options;
    const validTokens = serviceTokens();
    for (const [ws, token] of this.peerTokens) {
      if (isValidToken(token, validTokens)) continue;
      ws.close(POLICY_VIOLATION);
      clock.after(CLOSE_MILLIS, () => {
        ws.terminate();
      });
    }
  }

  /** Node has handed over the socket, so its errors and its end must be handled here. */
  private refuse(socket: Duplex, refusal: string): void {
    socket.on('error', () => socket.destroy());
    socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    const cancel = this.options.clock.after(CLOSE_MILLIS, () => socket.destroy());
    socket.once('close', cancel);
  }

  private refusal(request: IncomingMessage): string | undefined {
    if (request.url !== LINK_PATH) return '404 Not Found';
    if (!isValidToken(request.headers[SERVICE_TOKEN_HEADER], this.options.serviceTokens()))
      return '403 Forbidden';
    if (typeof request.headers[PEER_HEADER] !== 'string') return '400 Bad Request';
    if (this.peerTokens.size >= (this.options.maxConnections ?? 256)) return '503 Service Unavailable';
    return undefined;
  }

  /** Serves a peer whose token was checked, over an open socket. */
  serve(ws: LinkSocket, headers: IncomingHttpHeaders): void {
    const peer: LinkPeer = { name: String(headers[PEER_HEADER]), headers };
    const token = headers[SERVICE_TOKEN_HEADER];
    this.peerTokens.set(ws, typeof token === 'string' ? token : undefined);
    watchPulse(ws, this.options.clock);
    let notices: PeerNotices | undefined = undefined;
    const replies = this.repliesTo(ws, () => notices);
    if (headers[NOTICES_HEADER] === 'true') {
      notices = this.options.notices?.join(() => {
        replies.flushSoon();
      });
    }
    ws.on('close', () => {
      this.peerTokens.delete(ws);
      notices?.leave();
    });
    ws.on('error', (error) => {
      this.options.onFault(error, peer.name);
    });
    ws.on('message', (data) => {
      // A peer may still send while its connection closes. Its frames are ignored.
      if (ws.readyState !== WebSocket.OPEN) return;
      const requests = parseRequests<Request>(textOf(data), this.options.read);
      if (requests === undefined) {
        this.options.onFault(new Error('an unreadable frame'), peer.name);
        ws.close(1002);
        return;
      }
      for (const entry of requests) this.answer(entry, peer, replies);
    });
  }

  /** Collects replies in frames. Notices are sent at the end of a frame of replies, or alone. */
  private repliesTo(ws: LinkSocket, notices: () => PeerNotices | undefined): FrameBatch {
    const replies: FrameBatch = new FrameBatch(
      (frame) => {
        send(ws, frame, () => {
          if (notices()?.isEmpty === false) replies.flushSoon();
        });
      },
      () => (ws.bufferedAmount > NOTICE_PATIENCE_BYTES ? undefined : notices()?.take()),
    );
    return replies;
  }

  private answer(
    [id, request, traceparent]: RequestEntry<Request>,
    peer: LinkPeer,
    replies: FrameBatch,
  ): void {
    const span = this.tracing.continued(request.op, traceparent);
    const replied =
      span === undefined ? this.options.handle(request, peer) : this.traced(span, request, peer);
    replied.then(
      (answer) => {
        replies.add(entryOf(id, answer));
      },
      (error: unknown) => {
        this.options.onFault(error, peer.name);
        replies.add(entryOf(id, INTERNAL_ERROR));
      },
    );
  }

  private traced(span: Span, request: Request, peer: LinkPeer): Promise<LinkReply> {
    span.set({ operation: request.op });
    if (request.request_id !== undefined) span.set({ requestId: request.request_id });
    return inSpan(span, () => this.tracing.within(span, () => this.options.handle(request, peer)), {
      done: factsOf,
      failed: () => factsOf(INTERNAL_ERROR),
    });
  }
}

/** Requests are not checked further, because the peer has proved that it is one of our processes. */
function parseRequests<Request extends LinkRequest>(
  text: string,
  read: (frame: string) => unknown = JSON.parse,
): RequestEntry<Request>[] | undefined {
  try {
    const frame = read(text);
    return Array.isArray(frame) && frame.every(isRequestEntry<Request>) ? frame : undefined;
  } catch {
    return undefined;
  }
}

function isRequestEntry<Request extends LinkRequest>(entry: unknown): entry is RequestEntry<Request> {
  if (!Array.isArray(entry) || typeof entry[0] !== 'number') return false;
  const request: unknown = entry[1];
  return typeof request === 'object' && request !== null && 'op' in request;
}

function entryOf(id: number, { status, body }: LinkReply): string {
  return `[${id},${status},${JSON.stringify(body)}]`;
}

function send(ws: LinkSocket, frame: string, onSent: () => void): void {
  if (ws.readyState !== WebSocket.OPEN) return;
  if (ws.bufferedAmount > MAX_BUFFERED_BYTES) ws.terminate();
  else ws.send(frame, onSent);
}
