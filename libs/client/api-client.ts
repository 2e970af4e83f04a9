import * as http from 'node:http';
import * as https from 'node:https';
import { randomUUID } from 'node:crypto';

/** One call over HTTP, as both sides saw it. */
export interface ObservedExchange {
  readonly method: string;
  /** With its query, as it was sent. */
  readonly path: string;
  /** By names in lower case. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody?: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Direction = 'client' | 'server';

/** Sees what all clients of this process say and hear. Tests hold the documents against it. */
export interface Observer {
  exchange(exchange: ObservedExchange): void;
  frame(direction: Direction, text: string): void;
  /** The other side closed a stream with this code. */
  closed(code: number): void;
}

/** Undefined while no one observes, so that a client then builds no records either. */
export const observed: { by: Observer | undefined } = { by: undefined };

export interface ApiAnswer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Names in their order on the wire. */
  readonly headerNames: readonly string[];
  readonly text: string;
  /** The text as JSON; undefined where it is none. */
  readonly body: Body;
}

export interface ApiRequest {
  readonly headers?: http.OutgoingHttpHeaders;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is; `body` is then left aside. */
  readonly raw?: string | Buffer;
  /** The idempotency key. */
  readonly key?: string;
  readonly requestId?: string;
  /** Instead of the client's. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ApiClientOptions {
  readonly token?: string;
  /** One of the machine's own addresses, for whatever is counted per address. */
  readonly localAddress?: string;
  /** How many connections there are at most; further requests wait for one. */
  readonly maxSockets?: number;
  /** For how long a silent server is waited for. */
  readonly timeoutMs?: number;
}

const MAX_SOCKETS = 64;
const TIMEOUT_MS = 20_000;

/** The server is there, and says nothing. */
export class Unanswered extends Error {}

/**
 * A caller of the public API. It knows JSON, bearer tokens and idempotency keys, and judges nothing: every status is an answer.
 * A request without an answer rejects with `Unanswered`, or with the connection's own error.
 */
export class ApiClient {
  private readonly agent: http.Agent;
  private readonly request: typeof http.request;

  constructor(
    readonly baseUrl: string,
    private readonly options: ApiClientOptions = {},
  ) {
    const secure = new URL(baseUrl).protocol === 'https:';
    const { maxSockets = MAX_SOCKETS } = options;
    const { Agent } = secure ? https : http;
    this.agent = new Agent({ keepAlive: true, maxSockets });
    this.request = secure ? https.request : http.request;
  }

  as(token: string): ApiClient {
    return new ApiClient(this.baseUrl, { ...this.options, token });
  }

  get<Body>(path: string, headers: http.OutgoingHttpHeaders = {}): Promise<ApiAnswer<Body>> {
    return this.send<Body>('GET', path, { headers });
  }

  /** A key of its own unless one is given; `null` sends none. */
  post<Body>(path: string, body: unknown, key: string | null = randomUUID()): Promise<ApiAnswer<Body>> {
    return this.send<Body>('POST', path, { body, ...(key === null ? {} : { key }) });
  }

  async login(email: string, password: string): Promise<ApiClient> {
    return this.as(await this.tokenOf(email, password));
  }

  /** The token of a new session. */
  async tokenOf(email: string, password: string): Promise<string> {
    const asked = { body: { email, password } };
    const { status, text, body } = await this.send<{ access_token: string }>('POST', '/auth/login', asked);
    if (status !== 200) throw new Error(`${email} cannot log in: ${status} ${text}`);
    return body.access_token;
  }

  send<Body>(method: string, path: string, asked: ApiRequest = {}): Promise<ApiAnswer<Body>> {
    const payload = asked.raw ?? (asked.body === undefined ? undefined : JSON.stringify(asked.body));
    const { localAddress } = this.options;
    const { timeoutMs = this.options.timeoutMs ?? TIMEOUT_MS, signal } = asked;
    return new Promise((resolve, reject) => {
      const outgoing = this.request(new URL(path, this.baseUrl), {
        method,
        agent: this.agent,
        timeout: timeoutMs,
        ...(signal === undefined ? {} : { signal }),
        ...(localAddress === undefined ? {} : { localAddress }),
        headers: this.headersFor(asked, payload),
      });
      outgoing.on('timeout', () =>
        outgoing.destroy(new Unanswered(`${method} ${path}: no answer in ${timeoutMs} ms`)),
      );
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const answer = answerOf<Body>(incoming, Buffer.concat(chunks).toString());
          observed.by?.exchange({
            method,
            path,
            requestHeaders: textHeaders(outgoing.getHeaders()),
            requestBody: payload?.toString() ?? '',
            status: answer.status,
            headers: textHeaders(incoming.headers),
            body: answer.text,
          });
          resolve(answer);
        });
      });
      outgoing.end(payload);
    });
  }

  close(): void {
    this.agent.destroy();
  }

  private headersFor(asked: ApiRequest, payload: string | Buffer | undefined): http.OutgoingHttpHeaders {
    const { token } = this.options;
    const { key, requestId } = asked;
    return {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
      ...asked.headers,
    };
  }
}

function answerOf<Body>(incoming: http.IncomingMessage, text: string): ApiAnswer<Body> {
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    headerNames: incoming.rawHeaders.filter((_, index) => index % 2 === 0),
    text,
    body: parsed(text) as Body,
  };
}

export function textHeaders(headers: http.OutgoingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Not everything is JSON: NDJSON and empty bodies are read from `text`. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
