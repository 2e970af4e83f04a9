import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Dialect } from '../dialect/dialect.js';
import type { Connections } from '../server/connections.js';
import { namesTag, payloadOf, type Reply, type ReplyStream } from '../reply/reply.js';
import { announcedBytes, announcesBody } from './request-body.js';
import type { ServerLimits } from '../server/server-limits.js';
import { UnreadAnswers } from './unread-answers.js';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** Statuses without a body, also without an empty one. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);
/** An unread body up to this size is read to its end, so that the connection can be kept. */
const SMALL_REST_BYTES = 65_536;

/** Writes replies. Bounds how long a slow reader or an unread body occupies resources. */
export class ReplySender {
  private readonly unread: UnreadAnswers;

  constructor(
    private readonly limits: ServerLimits,
    private readonly connections: Connections,
    private readonly clock: Clock,
    private readonly dialect: Dialect,
  ) {
    this.unread = new UnreadAnswers(limits.unreadBytes);
  }

  async send(exchange: Exchange, original: Reply): Promise<void> {
    const { request, response } = exchange;
    if (response.destroyed || response.headersSent) return;
    const reply = isNotModified(request, original)
      ? { status: 304, headers: original.headers ?? {} }
      : original;
    const unread = announcesBody(request) && !request.complete;
    if (unread && !isSmallRest(request)) this.connections.close(request);
    const close = this.connections.closesAfter(request);
    const payload = payloadOf(reply);
    response.writeHead(reply.status, this.headersOf(exchange, reply, payload, close));
    if (reply.stream !== undefined) await this.stream(exchange, reply.stream);
    else if (unread && close) this.endAfterDiscarding(exchange, payload ?? '');
    else this.end(exchange, payload);
  }

  private headersOf(
    exchange: Exchange,
    reply: Reply,
    payload: string | undefined,
    close: boolean,
  ): Record<string, string | number> {
    const headers: Record<string, string | number> = {
      [this.dialect.requestId.header]: exchange.requestId,
      ...this.dialect.replyHeaders,
    };
    if (payload !== undefined) {
      headers['content-type'] = JSON_TYPE;
      headers['content-length'] = Buffer.byteLength(payload);
    } else if (reply.stream !== undefined) headers['content-type'] = reply.stream.contentType;
    else if (!BODILESS.has(reply.status)) headers['content-length'] = 0;
    if (close) headers.connection = 'close';
    return reply.headers === undefined ? headers : { ...headers, ...reply.headers };
  }

  /** Most replies are written to the kernel at once. The others get a time limit. */
  private end({ request, response }: Exchange, payload: string | undefined): void {
    response.end(payload);
    if (response.destroyed || response.socket?.writableLength === 0) return;
    response.once('close', this.awaitReader(request.socket));
  }

  /** Limits the time and the memory of an unread reply until the returned function is called. */
  private awaitReader(socket: Socket): () => void {
    const cancel = this.clock.after(this.limits.sendTimeout, () => socket.destroy());
    const release = this.unread.hold(socket);
    return () => {
      cancel();
      release();
    };
  }

  /**
   * Closing a socket with unread input resets it, and the peer may lose the reply. So this sends the reply first and discards
   * input for a while before the end.
   */
  private endAfterDiscarding(exchange: Exchange, payload: string): void {
    const { request, response } = exchange;
    let left = this.limits.lingerBytes;
    const finish = (): void => {
      cancel();
      request.off('data', discard).off('end', finish).off('close', finish);
      this.end(exchange, undefined);
    };
    const discard = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left < 0) finish();
    };
    const cancel = this.clock.after(this.limits.lingerTimeout, finish);
    response.write(payload);
    request.on('data', discard).on('end', finish).on('close', finish);
    request.resume();
  }

  private async stream(exchange: Exchange, stream: ReplyStream): Promise<void> {
    const { request, response } = exchange;
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    try {
      for await (const chunk of stream.chunks) {
        if (response.destroyed) return;
        if (!response.write(chunk)) await this.untilDrained(exchange);
      }
      this.end(exchange, undefined);
    } catch (error) {
      // The status is already sent, so only a broken connection can tell that the reply is incomplete.
      response.destroy();
      throw error;
    }
  }

  /** Resolves when the reader has read the data. A reader that is too slow is disconnected. */
  private untilDrained({ request, response }: Exchange): Promise<void> {
    return new Promise((resolve) => {
      const stopWaiting = this.awaitReader(request.socket);
      const finish = (): void => {
        stopWaiting();
        response.off('drain', finish).off('close', finish);
        resolve();
      };
      response.on('drain', finish).on('close', finish);
      if (response.destroyed) finish();
    });
  }
}

/** True if the caller already has this text. */
function isNotModified({ method, headers }: IncomingMessage, { status, headers: sent }: Reply): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && status === 200 && namesTag(headers['if-none-match'], sent?.etag);
}

function isSmallRest(request: IncomingMessage): boolean {
  const bytes = announcedBytes(request);
  return request.headers.expect === undefined && bytes > 0 && bytes <= SMALL_REST_BYTES;
}
