import type { Clock } from '#libs/platform/time/clock.js';

/** The venue gave no usable answer. Nothing is known from it, and earlier answers stay valid. */
export class VenueUnreachable extends Error {
  override readonly name = 'VenueUnreachable';

  constructor(
    reason: string,
    /** From the venue's `Retry-After`, if it sent one. */
    readonly retryAfterMillis?: number,
    readonly status?: number,
  ) {
    super(reason);
  }
}

export interface PublicRead {
  readonly url: URL;
  /** Sent by POST as JSON. Without a body, the request is a GET. */
  readonly body?: string;
}

export interface PublicReply {
  readonly status: number;
  readonly body: string;
}

const TIMEOUT_MILLIS = 5_000;
const MOST_BYTES = 16 * 1024 * 1024;
const MILLIS = 1_000;
const LONGEST_WAIT_SECONDS = 60;

/** Reads public data of a venue: no credentials, no redirects. */
export class PublicReads {
  constructor(
    private readonly clock: Clock,
    private readonly timeoutMillis = TIMEOUT_MILLIS,
  ) {}

  /** The body of a 2xx answer. Any other result throws VenueUnreachable. */
  async good(read: PublicRead, stop: AbortSignal): Promise<string> {
    const { status, body } = await this.reply(read, stop);
    if (status < 200 || status > 299) throw new VenueUnreachable(`${pathOf(read)}: status ${String(status)}`);
    return body;
  }

  /** Any complete answer, except one that asks us to wait. */
  async reply(read: PublicRead, stop: AbortSignal): Promise<PublicReply> {
    const ended = new AbortController();
    const cancel = this.clock.after(this.timeoutMillis, () => ended.abort());
    try {
      const signal = AbortSignal.any([stop, ended.signal]);
      const response = await fetch(read.url, { ...requestOf(read), redirect: 'error', signal });
      const body = await textOf(response);
      const { status } = response;
      if (status === 429 || status === 503) {
        throw new VenueUnreachable(
          `${pathOf(read)}: status ${String(status)}`,
          retryAfterOf(response),
          status,
        );
      }
      return { status, body };
    } catch (error) {
      if (error instanceof VenueUnreachable) throw error;
      const reason = ended.signal.aborted ? 'no answer in time' : reasonOf(error);
      throw new VenueUnreachable(`${pathOf(read)}: ${reason}`);
    } finally {
      cancel();
      ended.abort();
    }
  }
}

function requestOf({ body }: PublicRead): RequestInit {
  return body === undefined
    ? { method: 'GET' }
    : { method: 'POST', body, headers: { 'content-type': 'application/json' } };
}

async function textOf({ body }: Response): Promise<string> {
  if (body === null) return '';
  const chunks: AsyncIterable<Uint8Array> = body;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of chunks) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new VenueUnreachable('the answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? '');
  return seconds > 0 ? Math.min(seconds, LONGEST_WAIT_SECONDS) * MILLIS : undefined;
}

function pathOf({ url }: PublicRead): string {
  return `${url.host}${url.pathname}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

const FIRST_MILLIS = 250;
const MOST_MILLIS = 10_000;

/** The delay before a source is tried again: it doubles with each failure. */
export class FeedBackOff {
  private wait = 0;

  get millis(): number {
    return this.wait;
  }

  failed(error: unknown): void {
    const requested = error instanceof VenueUnreachable ? (error.retryAfterMillis ?? 0) : 0;
    const next = Math.min(MOST_MILLIS, Math.max(FIRST_MILLIS, this.wait * 2));
    this.wait = Math.max(requested, next);
  }

  succeeded(): void {
    this.wait = 0;
  }
}
