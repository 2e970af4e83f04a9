import { WebSocket } from 'ws';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import type { Span, Tracing } from '#libs/platform/tracing/tracing.js';
import { FrameBatch } from './frame-batch.js';
import { textOf } from './frame-text.js';
import { watchPulse } from './link-pulse.js';
import { openWebSocket, type LinkSocket, type OpenLinkSocket } from './link-socket.js';
import { readNotice } from './notice-slot.js';
import {
  ACTIVE_ONLY_HEADER,
  codeOf,
  LINK_PATH,
  NOTICE_ID,
  NOTICES_HEADER,
  PEER_HEADER,
  READ_FALLBACK_HEADER,
  SERVICE_TOKEN_HEADER,
  type LinkNotice,
  type LinkPeer,
  type LinkReply,
  type LinkRequest,
} from '#libs/auction/protocol/protocol.js';

/** The owner did not answer: nobody knows whether it has done what was asked. */
export class OwnerUnavailable extends Error {
  override readonly name = 'OwnerUnavailable';
}
/** So much is waiting for the owner already that nothing more is taken; this request was never sent. */
export class OwnerCongested extends Error {
  override readonly name = 'OwnerCongested';
}
/** The owner said something that is not of this protocol. */
export class OwnerGarbled extends Error {
  override readonly name = 'OwnerGarbled';
}

export interface OwnerLinkOptions {
  /** `http://host:port` of the owner's internal listener. */
  readonly url: string;
  readonly serviceToken: () => string;
  /** What this process calls itself; the owner logs it. */
  readonly peer: string;
  readonly clock: Clock;
  /** How this process wants its reads answered: see LinkPeer. */
  readonly reads?: Pick<LinkPeer, 'activeOnly' | 'readFallback'>;
  /** Told of the owner's head when it moves, and once when a link is made; of many moves perhaps only of the last, with or without records. */
  readonly onNotice?: (notice: LinkNotice) => void;
  readonly timeoutMillis?: number;
  /** How connections are made; by the ws package unless given. */
  readonly openSocket?: OpenLinkSocket;
  readonly maxPending?: number;
  /** Without it no request of this link is traced. */
  readonly trace?: LinkTrace;
}

export interface LinkTrace {
  readonly tracing: Tracing;
  /** Whose owner is asked. */
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
const NANOS_PER_MILLI = 1_000_000n;
const NO_ANSWER_STATUS = 503;

/** One lasting connection to one owner, for the requests of many callers. */
export class OwnerLink {
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

  constructor(private readonly options: OwnerLinkOptions) {
    this.timeout = BigInt(options.timeoutMillis ?? 10_000) * NANOS_PER_MILLI;
    this.connect();
  }

  get connected(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Another number whenever the connection was made anew, perhaps to another process; undefined while there is none. */
  get connection(): number | undefined {
    return this.connected ? this.connections : undefined;
  }

  /** `timeoutMillis` may only shorten the link's own. */
  request(request: LinkRequest, timeoutMillis?: number): Promise<LinkReply> {
    const { trace } = this.options;
    const span = trace?.tracing.child(request.op, 'client');
    if (trace === undefined || span === undefined) return this.ask(request, timeoutMillis);
    span.set({ operation: request.op, shard: trace.shard });
    return told(span, this.ask(request, timeoutMillis, span.traceparent));
  }

  private ask(request: LinkRequest, timeoutMillis?: number, traceparent?: string): Promise<LinkReply> {
    return new Promise((resolve, reject) => {
      if (!this.connected) {
        reject(new OwnerUnavailable(`no connection to ${this.options.url}`));
        return;
      }
      if (this.pending.size >= (this.options.maxPending ?? 20_000)) {
        reject(new OwnerCongested(`too much is waiting for ${this.options.url}`));
        return;
      }
      const id = this.nextId;
      this.nextId += 1;
      const patience = timeoutMillis === undefined ? this.timeout : BigInt(timeoutMillis) * NANOS_PER_MILLI;
      const deadline = this.options.clock.monotonicNanos() + patience;
      this.pending.set(id, { resolve, reject, deadline });
      const traced = traceparent === undefined ? '' : `,"${traceparent}"`;
      this.outgoing.add(`[${id},${JSON.stringify(request)}${traced}]`);
      if (timeoutMillis !== undefined) this.expectBy(id, timeoutMillis);
      this.startSweep();
    });
  }

  close(): void {
    this.closed = true;
    this.cancelSweep?.();
    this.socket?.close(1000);
    this.failAll(new OwnerUnavailable('this process is stopping'));
  }

  /**
   * The service token is another one: a second connection is made with it, and what is asked from then on goes there. The first
   * is let go when all that it carries has had its time, so nobody who waits notices.
   */
  renew(): void {
    const former = this.socket;
    // A connection that is still to be made shows the new token by itself.
    if (this.closed || former === undefined || !this.connected) return;
    const fresh = this.open();
    fresh.on('open', () => {
      if (this.closed || this.socket !== former) {
        fresh.close(1000);
        return;
      }
      this.socket = fresh;
      this.connections += 1;
      this.options.clock.after(Number(this.timeout / NANOS_PER_MILLI), () => {
        former.close(1000);
      });
    });
    fresh.on('close', () => {
      // Refused, because the owner does not know the token yet.
      if (this.socket !== former) return;
      this.options.clock.after(RENEW_AGAIN_MILLIS, () => {
        if (this.socket === former) this.renew();
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
      this.lost(socket);
    });
    return socket;
  }

  private lost(socket: LinkSocket): void {
    if (this.socket !== socket) return;
    this.socket = undefined;
    this.outgoing.clear();
    this.failAll(new OwnerUnavailable(`lost the connection to ${this.options.url}`));
    if (this.closed) return;
    this.options.clock.after(this.reconnectMillis, () => {
      this.connect();
    });
    this.reconnectMillis = Math.min(this.reconnectMillis * 2, RECONNECT_MAX_MILLIS);
  }

  private receive(text: string): void {
    const replies = parseReplies(text);
    if (replies === undefined) {
      this.garbled();
      return;
    }
    for (const [id, status, body, more] of replies) {
      if (id === NOTICE_ID) {
        this.noticed(body, more);
        continue;
      }
      const waiter = this.pending.get(id);
      if (waiter === undefined) continue;
      this.pending.delete(id);
      waiter.resolve({ status, body });
    }
  }

  private noticed(body: string, payloads: unknown): void {
    const notice = readNotice(body, payloads);
    if (notice === undefined) this.garbled();
    else this.options.onNotice?.(notice);
  }

  private garbled(): void {
    this.failAll(new OwnerGarbled(`unreadable frame from ${this.options.url}`));
    this.socket?.terminate();
  }

  private expectBy(id: number, millis: number): void {
    this.options.clock.after(millis, () => {
      this.giveUp(id);
    });
  }

  /** One timer for all requests: ids grow, and so do most deadlines, so the oldest stand first and nothing is due before it. */
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
    waiter.reject(new OwnerUnavailable(`no answer in time from ${this.options.url}`));
  }

  private failAll(error: Error): void {
    const waiters = [...this.pending.values()];
    this.pending.clear();
    for (const waiter of waiters) waiter.reject(error);
  }
}

/** The same answer, once the span has heard of it. */
async function told(span: Span, answer: Promise<LinkReply>): Promise<LinkReply> {
  try {
    const reply = await answer;
    span.set({ status: reply.status, code: codeOf(reply) });
    return reply;
  } catch (error) {
    span.set({ status: NO_ANSWER_STATUS, code: error instanceof Error ? error.name : 'unknown' });
    throw error;
  } finally {
    span.end();
  }
}

function headersOf({ serviceToken, peer, reads, onNotice }: OwnerLinkOptions): Record<string, string> {
  return {
    [SERVICE_TOKEN_HEADER]: serviceToken(),
    [PEER_HEADER]: peer,
    ...(reads?.activeOnly === true ? { [ACTIVE_ONLY_HEADER]: 'true' } : {}),
    ...(reads?.readFallback === true ? { [READ_FALLBACK_HEADER]: 'true' } : {}),
    ...(onNotice === undefined ? {} : { [NOTICES_HEADER]: 'true' }),
  };
}

type ReplyEntry = [id: number, status: number, body: string, more?: unknown];

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
