import { isUtf8 } from 'node:buffer';
import { Agent, request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import type { Clock } from '#libs/platform/time/clock.js';

/** Undefined if there is no complete answer: no connection, a timeout, a broken answer, or one that is too long. */
export type UpstreamAnswer = { readonly status: number; readonly body: string } | undefined;

const MOST_BYTES = 8 * 1024 * 1024;
const MOST_SOCKETS = 32;
/** Concurrent requests, including those that wait for a connection. */
const MOST_IN_FLIGHT = 256;

/** Sends live reads to one venue. It follows no redirects, and retries only when an idle connection turned out to be closed. */
export class UpstreamHttp {
  private readonly isTls: boolean;
  private readonly agent: Agent | TlsAgent;
  private readonly base: string;
  private inFlight = 0;

  constructor(
    private readonly url: URL,
    private readonly timeoutMillis: number,
    private readonly clock: Clock,
  ) {
    this.isTls = url.protocol === 'https:';
    const options = { keepAlive: true, maxSockets: MOST_SOCKETS };
    this.agent = this.isTls ? new TlsAgent(options) : new Agent(options);
    this.base = url.pathname.replace(/\/+$/, '');
  }

  /** Appends `path` unchanged to the base URL. */
  async get(path: string): Promise<UpstreamAnswer> {
    if (this.inFlight >= MOST_IN_FLIGHT) return undefined;
    this.inFlight += 1;
    try {
      return await this.exchange(path);
    } finally {
      this.inFlight -= 1;
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private exchange(path: string): Promise<UpstreamAnswer> {
    return new Promise((resolve) => {
      let request: ClientRequest | undefined;
      let isSettled = false;
      const end = (answer: UpstreamAnswer): void => {
        if (isSettled) return;
        isSettled = true;
        cancel();
        if (answer === undefined) request?.destroy();
        resolve(answer);
      };
      const cancel = this.clock.after(this.timeoutMillis, () => end(undefined));
      const send = (isAgain: boolean): void => {
        const sent = this.send(path);
        request = sent;
        let hasAnswer = false;
        sent.on('response', (response) => {
          hasAnswer = true;
          readAnswer(response, end);
        });
        sent.on('error', () => {
          // A venue may close an idle connection at the moment we use it.
          if (sent.reusedSocket && !hasAnswer && !isAgain && !isSettled) send(true);
          else end(undefined);
        });
        sent.end();
      };
      send(false);
    });
  }

  private send(path: string): ClientRequest {
    const { hostname, port, username, password } = this.url;
    return (this.isTls ? tlsRequest : plainRequest)({
      // IPv6 addresses have brackets in URLs only.
      host: hostname.replace(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port }),
      ...(username === '' ? {} : { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
      path: `${this.base}${path}`,
      headers: { accept: 'application/json', 'accept-encoding': 'identity' },
      agent: this.agent,
    });
  }
}

function readAnswer(response: IncomingMessage, end: (answer: UpstreamAnswer) => void): void {
  const parts: Buffer[] = [];
  let bytes = 0;
  response.on('data', (part: Buffer) => {
    bytes += part.length;
    parts.push(part);
    if (bytes > MOST_BYTES) end(undefined);
  });
  response.on('error', () => end(undefined));
  response.on('end', () => {
    const body = Buffer.concat(parts);
    const { statusCode: status = 0, complete } = response;
    end(complete && isUtf8(body) ? { status, body: body.toString('utf8') } : undefined);
  });
}
