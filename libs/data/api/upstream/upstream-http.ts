import { isUtf8 } from 'node:buffer';
import { Agent, request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import type { Clock } from '#libs/platform/time/clock.js';

/** Undefined where nothing came that could be read: no connection, no answer in time, half an answer, one that is too long. */
export type UpstreamAnswer = { readonly status: number; readonly body: string } | undefined;

const MOST_BYTES = 8 * 1024 * 1024;
const MOST_SOCKETS = 32;
/** Asked at once, those that wait for a connection included. */
const MOST_ASKED = 256;

/** Live reads of one venue. Redirects are not followed, and nothing is asked twice but over a connection that had gone. */
export class UpstreamHttp {
  private readonly isTls: boolean;
  private readonly agent: Agent | TlsAgent;
  private readonly base: string;
  private asked = 0;

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

  /** `path` goes out as it is, behind that of the address. */
  async get(path: string): Promise<UpstreamAnswer> {
    if (this.asked >= MOST_ASKED) return undefined;
    this.asked += 1;
    try {
      return await this.exchange(path);
    } finally {
      this.asked -= 1;
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
          // A venue may close an idle connection in the moment in which we use it.
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
      // Addresses of version 6 have brackets in URLs alone.
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
