import { createHash } from 'node:crypto';
import { Agent, request as plainRequest, type ClientRequest, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { instantFromNanos, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { VenueCall } from '../rules/order.js';

export interface HttpAsked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** `never-sent` proves that no byte of the request left. `lost` leaves open what the venue did. */
export type HttpOutcome =
  | { readonly what: 'answered'; readonly status: number; readonly body: string }
  | { readonly what: 'never-sent' | 'lost'; readonly reason: string };

/**
 * A process that was suspended must not send a request that others have given up. Must be shorter than a task's
 * lease: when the lease ends, the order is in doubt and may be proven absent.
 */
export const STALE_NANOS = 4_000n * NANOS_PER_MILLI;
export const TOO_OLD: HttpOutcome = { what: 'never-sent', reason: 'it was too old to be sent' };

export interface HttpExchange {
  readonly outcome: HttpOutcome;
  readonly sent_at: Instant;
  readonly answered_at?: Instant;
}

const TIMEOUT_MILLIS = 10_000;
const MAX_REPLY_BYTES = 8 * 1024 * 1024;
const MAX_RAW_CHARS = 16 * 1024;
const MAX_SOCKETS = 64;

/** The connections to one venue. A request is sent once. Failures are reported and never retried. */
export class VenueHttp {
  private readonly agents = {
    'http:': new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
    'https:': new TlsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
  };

  constructor(
    private readonly clock: Clock,
    private readonly timeoutMillis = TIMEOUT_MILLIS,
  ) {}

  async exchange(asked: HttpAsked): Promise<HttpExchange> {
    const sent_at = this.now();
    const outcome = await this.send(asked);
    return { outcome, sent_at, ...(outcome.what === 'answered' ? { answered_at: this.now() } : {}) };
  }

  close(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  private now(): Instant {
    return instantFromNanos(this.clock.epochNanos());
  }

  private send({ method, url, headers, body }: HttpAsked): Promise<HttpOutcome> {
    const isTls = url.protocol === 'https:';
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options: RequestOptions = {
      method,
      agent: this.agents[isTls ? 'https:' : 'http:'],
      headers: { ...headers, ...length },
    };
    return new Promise((resolve) => {
      const request = (isTls ? tlsRequest : plainRequest)(url, options);
      const end = settleOnce((outcome) => {
        cancel();
        if (outcome.what !== 'answered') request.destroy();
        resolve(outcome);
      });
      const hasLeft = leaving(request);
      const cancel = this.clock.after(this.timeoutMillis, () => {
        end({ what: hasLeft() ? 'lost' : 'never-sent', reason: 'no answer in time' });
      });
      request.on('error', ({ message }) => {
        end({ what: hasLeft() ? 'lost' : 'never-sent', reason: message });
      });
      readReply(request, end);
      request.end(body);
    });
  }
}

/** Only a request that never had a connection is proven not to have left. */
function leaving(request: ClientRequest): () => boolean {
  let hasLeft = false;
  request.on('socket', (socket: Socket) => {
    if (!socket.connecting) hasLeft = true;
    else
      socket.once('connect', () => {
        hasLeft = true;
      });
  });
  return () => hasLeft;
}

function readReply(request: ClientRequest, end: (outcome: HttpOutcome) => void): void {
  request.on('response', (response) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    response.on('data', (part: Buffer) => {
      bytes += part.length;
      parts.push(part);
      if (bytes > MAX_REPLY_BYTES) end({ what: 'lost', reason: 'the answer is too long' });
    });
    response.on('error', ({ message }) => {
      end({ what: 'lost', reason: message });
    });
    response.on('aborted', () => {
      end({ what: 'lost', reason: 'the answer was cut off' });
    });
    response.on('end', () => {
      if (!response.complete) end({ what: 'lost', reason: 'the answer was cut off' });
      const { statusCode: status = 0 } = response;
      end({ what: 'answered', status, body: Buffer.concat(parts).toString('utf8') });
    });
  });
}

function settleOnce(settle: (outcome: HttpOutcome) => void): (outcome: HttpOutcome) => void {
  let isSettled = false;
  return (outcome) => {
    if (isSettled) return;
    isSettled = true;
    settle(outcome);
  };
}

/** Describes an exchange for the order's timeline. */
export function callOf(
  operation: VenueCall['operation'],
  asked: HttpAsked,
  { outcome, sent_at, answered_at }: HttpExchange,
  signed_at?: Instant,
): VenueCall {
  const { method, url, body = '' } = asked;
  return {
    operation,
    request_sha256: createHash('sha256')
      .update(`${method} ${url.pathname}${url.search}\n${body}`)
      .digest('hex'),
    sent_at,
    ...(signed_at === undefined ? {} : { signed_at }),
    ...(answered_at === undefined ? {} : { answered_at }),
    ...(outcome.what === 'answered' ? { http_status: outcome.status, raw: rawOf(outcome.body) } : {}),
  };
}

/** Parsed if it is JSON, and cut if it is too long to keep. */
function rawOf(body: string): unknown {
  if (body.length > MAX_RAW_CHARS) return body.slice(0, MAX_RAW_CHARS);
  return parsedJson(body) ?? body;
}

/** Undefined if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
