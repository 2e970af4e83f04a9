import * as http from 'node:http';
import * as https from 'node:https';
import { randomUUID } from 'node:crypto';

/** One HTTP request and its response. */
export interface ObservedExchange {
  readonly method: string;
  /** Includes the query, as sent. */
  readonly path: string;
  /** With names in lower case. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody?: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Direction = 'client' | 'server';

/** Receives the traffic of all clients of this process. Tests compare it with the documents. */
export interface Observer {
  exchange(exchange: ObservedExchange): void;
  frame(direction: Direction, text: string): void;
  /** The server closed a stream with this code. */
  closed(code: number): void;
}

/** `by` is undefined while no one observes, and clients then build no records. */
export const observed: { by: Observer | undefined } = { by: undefined };

export interface ApiAnswer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Names in the order on the wire. */
  readonly headerNames: readonly string[];
  readonly text: string;
  /** The text parsed as JSON; undefined if it is not JSON. */
  readonly body: Body;
}

export interface ApiRequest {
  readonly headers?: http.OutgoingHttpHeaders;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, in place of `body`. */
  readonly raw?: string | Buffer;
  /** The idempotency key. */
  readonly key?: string;
  readonly requestId?: string;
  /** Overrides the client's timeout. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ApiClientOptions {
  readonly token?: string;
  /** A local address to connect from, because some limits count by address. */
  readonly localAddress?: string;
  /** Most connections at a time. Further requests wait for one. */
  readonly maxSockets?: number;
  /** How long to wait for a silent server. */
  readonly timeoutMs?: number;
}

const MAX_SOCKETS = 64;
const TIMEOUT_MS = 20_000;

/** The server sent no answer in time. */
export class Unanswered extends Error {}

/**
 * Calls the public API with JSON, bearer tokens and idempotency keys. It returns every status as an answer and throws for none.
 * A request without an answer rejects with `Unanswered`, or with the connection's error.
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

  /** Sends a new idempotency key unless one is given; `null` sends none. */
  post<Body>(path: string, body: unknown, key: string | null = randomUUID()): Promise<ApiAnswer<Body>> {
    return this.send<Body>('POST', path, { body, ...(key === null ? {} : { key }) });
  }

  async login(email: string, password: string): Promise<ApiClient> {
    return this.as(await this.tokenOf(email, password));
  }

  /** Logs in, and returns the token of the new session. */
  async tokenOf(email: string, password: string): Promise<string> {
    const request = { body: { email, password } };
    const { status, text, body } = await this.send<{ access_token: string }>('POST', '/auth/login', request);
    if (status !== 200) throw new Error(`${email} cannot log in: ${status} ${text}`);
    return body.access_token;
  }

  send<Body>(method: string, path: string, request: ApiRequest = {}): Promise<ApiAnswer<Body>> {
    const payload = request.raw ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
    const { localAddress } = this.options;
    const { timeoutMs = this.options.timeoutMs ?? TIMEOUT_MS, signal } = request;
    return new Promise((resolve, reject) => {
      const outgoing = this.request(new URL(path, this.baseUrl), {
        method,
        agent: this.agent,
        timeout: timeoutMs,
        ...(signal === undefined ? {} : { signal }),
        ...(localAddress === undefined ? {} : { localAddress }),
        headers: this.headersFor(request, payload),
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

  private headersFor(request: ApiRequest, payload: string | Buffer | undefined): http.OutgoingHttpHeaders {
    const { token } = this.options;
    const { key, requestId } = request;
    return {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
      ...request.headers,
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

/** Undefined for bodies that are not JSON, such as NDJSON. Callers read those from `text`. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
