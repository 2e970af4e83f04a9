import { randomUUID } from 'node:crypto';
import { Agent, request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { recordExchange } from '../interface/recorder.js';

export interface ApiAnswer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Names in their order on the wire. */
  readonly headerNames: readonly string[];
  readonly text: string;
  /** The body, parsed where there is any. */
  readonly body: Body;
}

export interface ApiRequest {
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is; `body` is then left aside. */
  readonly raw?: string | Buffer;
}

export interface ApiClientOptions {
  readonly token?: string;
  /** One of the machine's own addresses, for whatever is counted per address. */
  readonly localAddress?: string;
}

const MAX_SOCKETS = 64;
const TIMEOUT_MS = 20_000;

/** Who was asked is there, and says nothing. */
export class Unanswered extends Error {}

/** A caller of the public API: knows JSON, bearer tokens and idempotency keys, and judges nothing. */
export class ApiClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });

  constructor(
    readonly baseUrl: string,
    private readonly options: ApiClientOptions = {},
  ) {}

  as(token: string): ApiClient {
    return new ApiClient(this.baseUrl, { ...this.options, token });
  }

  get<Body>(path: string, headers: OutgoingHttpHeaders = {}): Promise<ApiAnswer<Body>> {
    return this.send<Body>('GET', path, { headers });
  }

  /** A key of its own unless one is given; `null` sends none. */
  post<Body>(path: string, body: unknown, key: string | null = randomUUID()): Promise<ApiAnswer<Body>> {
    return this.send<Body>('POST', path, { body, headers: key === null ? {} : { 'idempotency-key': key } });
  }

  async login(email: string, password: string): Promise<ApiClient> {
    const answer = await this.send<{ access_token: string }>('POST', '/auth/login', {
      body: { email, password },
    });
    if (answer.status !== 200) throw new Error(`${email} cannot log in: ${answer.status} ${answer.text}`);
    return this.as(answer.body.access_token);
  }

  send<Body>(method: string, path: string, asked: ApiRequest = {}): Promise<ApiAnswer<Body>> {
    const payload = asked.raw ?? (asked.body === undefined ? undefined : JSON.stringify(asked.body));
    const { token, localAddress } = this.options;
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(path, this.baseUrl), {
        method,
        agent: this.agent,
        timeout: TIMEOUT_MS,
        ...(localAddress === undefined ? {} : { localAddress }),
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(payload === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
          ...asked.headers,
        },
      });
      outgoing.on('timeout', () =>
        outgoing.destroy(new Unanswered(`${method} ${path}: no answer in ${TIMEOUT_MS} ms`)),
      );
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const status = incoming.statusCode ?? 0;
          recordExchange({
            method,
            path,
            requestHeaders: textHeaders(outgoing.getHeaders()),
            requestBody: payload?.toString() ?? '',
            status,
            headers: textHeaders(incoming.headers),
            body: text,
          });
          resolve({
            status,
            headers: incoming.headers,
            headerNames: incoming.rawHeaders.filter((_, index) => index % 2 === 0),
            text,
            body: parsed(text) as Body,
          });
        });
      });
      outgoing.end(payload);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

function textHeaders(headers: OutgoingHttpHeaders): Record<string, string> {
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
