import { WebSocket } from 'ws';
import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { PEER_HEADER, SERVICE_TOKEN_HEADER } from '#libs/platform/internal-server/internal-host.js';
import { inSpan, type Tracing } from '#libs/platform/tracing/tracing.js';
import { FrameBatch } from './frame-batch.js';
import {
  factsOf,
  LINK_PATH,
  type LinkReply,
  type LinkRequest,
  NOTICE_ID,
  NOTICES_HEADER,
} from './link-protocol.js';
import { watchPulse } from './link-pulse.js';
import { type LinkSocket, type OpenLinkSocket, openWebSocket, textOf } from './link-socket.js';
import type { NoticeReceiver } from './notices.js';
import type { ServiceTokens } from './service-tokens.js';

/** No reply came. The server may or may not have done what was asked. */
export class LinkUnavailable extends Error {
  override readonly name = 'LinkUnavailable';
}
/** Too many requests wait for the server; this one was never sent. */
export class LinkCongested extends Error {
  override readonly name = 'LinkCongested';
}
/** The server sent a frame that this protocol does not know. */
export class LinkGarbled extends Error {
  override readonly name = 'LinkGarbled';
}

export interface LinkClientOptions {
  /** `http://host:port` of the server's internal listener. */
  readonly url: string;
  readonly serviceToken: () => string;
  /** The name of this process, for the server's log. */
  readonly peer: string;
  readonly clock: Clock;
  /** Headers that are sent once, when the link opens. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Receives the server's notices. Several may be merged into one. */
  readonly onNotice?: NoticeReceiver;
  readonly timeoutMillis?: number;
  /** Opens connections; the ws package by default. */
  readonly openSocket?: OpenLinkSocket;
  readonly maxPending?: number;
  /** Writes a request, as JSON by default. A protocol may have numbers that JSON lacks. */
  readonly write?: (request: object) => string;
  /** Without it no request of this link is traced. */
  readonly trace?: LinkTrace;
}

export interface LinkTrace {
  readonly tracing: Tracing;
  /** The shard at the other end. */
  readonly shard: number;
}

interface Pending {
  readonly resolve: (reply: LinkReply) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: bigint;
}

const RECONNECT_FIRST_MILLIS = 20;
const RECONNECT_MAX_MILLIS = 500;
const RENEW_AGAIN_MILLIS = 1_000;
const SWEEP_MILLIS = 100;
const NO_ANSWER_STATUS = 503;

/** One persistent connection to one server, shared by many callers. Reconnects by itself. */
export class LinkClient<Request extends LinkRequest> {
  private socket: LinkSocket | undefined;
  private readonly pending = new Map<number, Pending>();
  private readonly outgoing = new FrameBatch((frame) => {
    if (this.connected) this.socket?.send(frame);
  });
  private nextId = 1;
  private closed = false;
  private connections = 0;
  private reconnectMillis = RECONNECT_FIRST_MILLIS;
  private cancelSweep: Cancel | undefined;
  private readonly timeout: bigint;

  constructor(private readonly options: LinkClientOptions) {
    this.timeout = BigInt(options.timeoutMillis ?? 10_000) * NANOS_PER_MILLI;
    this.connect();
  }

  get connected(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** A new number for each connection, which may lead to another process. Undefined while there is no connection. */
  get connection(): number | undefined {
    return this.connected ? this.connections : undefined;
  }

  /** `timeoutMillis` may only shorten the link's own. */
  request(request: Request, timeoutMillis?: number): Promise<LinkReply> {
    const { trace } = this.options;
    const span = trace?.tracing.child(request.op, 'client');
    if (trace === undefined || span === undefined) return this.ask(request, timeoutMillis);
    span.set({ operation: request.op, shard: trace.shard });
    return inSpan(span, () => this.ask(request, timeoutMillis, span.traceparent), {
      done: factsOf,
      failed: (error) => ({
        status: NO_ANSWER_STATUS,
        code: error instanceof Error ? error.name : 'unknown',
      }),
    });
  }

  private ask(request: Request, timeoutMillis?: number, traceparent?: string): Promise<LinkReply> {
    return new Promise((resolve, reject) => {
      if (!this.connected) {
        reject(new LinkUnavailable(`no connection to ${this.options.url}`));
        return;
      }
      if (this.pending.size >= (this.options.maxPending ?? 20_000)) {
        reject(new LinkCongested(`too much is waiting for ${this.options.url}`));
        return;
      }
      const id = this.nextId;
      this.nextId += 1;
      const allowed = timeoutMillis === undefined ? this.timeout : BigInt(timeoutMillis) * NANOS_PER_MILLI;
      const deadline = this.options.clock.monotonicNanos() + allowed;
      this.pending.set(id, { resolve, reject, deadline });
      const tracePart = traceparent === undefined ? '' : `,"${traceparent}"`;
      this.outgoing.add(`[${id},${(this.options.write ?? JSON.stringify)(request)}${tracePart}]`);
      if (timeoutMillis !== undefined) this.giveUpAfter(id, timeoutMillis);
      this.startSweep();
    });
  }

  close(): void {
    this.closed = true;
    this.cancelSweep?.();
    this.socket?.close(1000);
    this.failAll(new LinkUnavailable('this process is stopping'));
  }

  /**
   * Opens a second connection with the present service token, for all later requests. Closes the first one after the timeout of
   * its last request, so that no caller notices.
   */
  renew(): void {
    const oldSocket = this.socket;
    // A connection that is not open yet will present the new token.
    if (this.closed || oldSocket === undefined || !this.connected) return;
    const newSocket = this.open();
    newSocket.on('open', () => {
      if (this.closed || this.socket !== oldSocket) {
        newSocket.close(1000);
        return;
      }
      this.socket = newSocket;
      this.connections += 1;
      this.options.clock.after(Number(this.timeout / NANOS_PER_MILLI), () => {
        oldSocket.close(1000);
      });
    });
    newSocket.on('close', () => {
      // The server has refused: it does not accept the new token yet.
      if (this.socket !== oldSocket) return;
      this.options.clock.after(RENEW_AGAIN_MILLIS, () => {
        if (this.socket === oldSocket) this.renew();
      });
    });
  }

  private connect(): void {
    if (this.closed) return;
    const socket = this.open();
    this.socket = socket;
    socket.on('open', () => {
      this.reconnectMillis = RECONNECT_FIRST_MILLIS;
      this.connections += 1;
      watchPulse(socket, this.options.clock);
    });
  }

  private open(): LinkSocket {
    const url = `${this.options.url.replace(/^http/, 'ws')}${LINK_PATH}`;
    const socket = (this.options.openSocket ?? openWebSocket)(url, headersOf(this.options));
    socket.on('message', (data) => {
      this.receive(textOf(data));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.onLost(socket);
    });
    return socket;
  }

  private onLost(socket: LinkSocket): void {
    if (this.socket !== socket) return;
    this.socket = undefined;
    this.outgoing.clear();
    this.failAll(new LinkUnavailable(`lost the connection to ${this.options.url}`));
    if (this.closed) return;
    this.options.clock.after(this.reconnectMillis, () => {
      this.connect();
    });
    this.reconnectMillis = Math.min(this.reconnectMillis * 2, RECONNECT_MAX_MILLIS);
  }

  private receive(text: string): void {
    const replies = parseReplies(text);
    if (replies === undefined) {
      this.onGarbled();
      return;
    }
    for (const [id, status, body, extra] of replies) {
      if (id === NOTICE_ID) {
        if (this.options.onNotice?.(body, extra) === false) this.onGarbled();
        continue;
      }
      const waiter = this.pending.get(id);
      if (waiter === undefined) continue;
      this.pending.delete(id);
      waiter.resolve({ status, body });
    }
  }

  private onGarbled(): void {
    this.failAll(new LinkGarbled(`unreadable frame from ${this.options.url}`));
    this.socket?.terminate();
  }

  private giveUpAfter(id: number, millis: number): void {
    this.options.clock.after(millis, () => {
      this.giveUp(id);
    });
  }

  /** One timer serves all requests. Deadlines grow with the ids, so the oldest request is due first. */
  private startSweep(): void {
    const [oldest] = this.pending.values();
    if (this.cancelSweep !== undefined || oldest === undefined) return;
    const left = Number((oldest.deadline - this.options.clock.monotonicNanos()) / NANOS_PER_MILLI);
    this.cancelSweep = this.options.clock.after(Math.max(SWEEP_MILLIS, left), () => {
      this.cancelSweep = undefined;
      const now = this.options.clock.monotonicNanos();
      for (const [id, waiter] of this.pending) {
        if (waiter.deadline > now) break;
        this.giveUp(id);
      }
      this.startSweep();
    });
  }

  private giveUp(id: number): void {
    const waiter = this.pending.get(id);
    if (waiter === undefined) return;
    this.pending.delete(id);
    waiter.reject(new LinkUnavailable(`no answer in time from ${this.options.url}`));
  }

  private failAll(error: Error): void {
    const waiters = [...this.pending.values()];
    this.pending.clear();
    for (const waiter of waiters) waiter.reject(error);
  }
}

/** Opens a link that presents the current service token, and renews it when that changes. */
export function openLink<Request extends LinkRequest>(
  tokens: ServiceTokens,
  options: Omit<LinkClientOptions, 'serviceToken'>,
): LinkClient<Request> {
  const link = new LinkClient<Request>({ ...options, serviceToken: () => tokens.shown() });
  tokens.onChange(() => {
    link.renew();
  });
  return link;
}

function headersOf({
  serviceToken,
  peer,
  headers,
  onNotice,
}: LinkClientOptions): Readonly<Record<string, string>> {
  return {
    [SERVICE_TOKEN_HEADER]: serviceToken(),
    [PEER_HEADER]: peer,
    ...headers,
    ...(onNotice === undefined ? {} : { [NOTICES_HEADER]: 'true' }),
  };
}

type ReplyEntry = [id: number, status: number, body: string, extra?: unknown];

function parseReplies(text: string): ReplyEntry[] | undefined {
  try {
    const frame: unknown = JSON.parse(text);
    return Array.isArray(frame) && frame.every(isReplyEntry) ? frame : undefined;
  } catch {
    return undefined;
  }
}

function isReplyEntry(entry: unknown): entry is ReplyEntry {
  return (
    Array.isArray(entry) &&
    typeof entry[0] === 'number' &&
    typeof entry[1] === 'number' &&
    typeof entry[2] === 'string'
  );
}
