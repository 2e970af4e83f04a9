import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { ObservedExchange } from '#libs/client/api-client.js';
import { HttpCheck } from '#libs/testing/interface/http-check.js';

export interface WalkCall {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is. */
  readonly body?: object | string;
  /** The caller's address: any address of this machine. */
  readonly from?: string;
}

export interface WalkAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Calls a service, and compares every answer with its document. */
export class InterfaceWalk {
  readonly faults = new Set<string>();
  private readonly check: HttpCheck;

  constructor(
    private readonly url: string,
    document: OpenApi,
  ) {
    this.check = new HttpCheck(document);
  }

  /** Statuses that only the document has: `operation status`, or `any status` for those that operations share. */
  get unseen(): string[] {
    const { parts, shown } = this.check;
    return parts.filter((part) => /^\S+ \d{3}$/.test(part) && !shown.has(part)).sort();
  }

  async ask({ method, path, headers = {}, body, from = '127.0.0.1' }: WalkCall): Promise<WalkAnswer> {
    const sent = typeof body === 'object' ? JSON.stringify(body) : body;
    const requestHeaders = {
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    const answer = await exchange(this.url, { method, path, requestHeaders, from, ...present(sent) });
    this.observe(answer);
    return { status: answer.status, text: answer.body, body: objectIn(answer.body) };
  }

  observe(seen: ObservedExchange): void {
    for (const fault of this.check.faults(seen)) this.faults.add(fault);
  }
}

interface Sent extends Pick<ObservedExchange, 'method' | 'path' | 'requestHeaders' | 'requestBody'> {
  readonly from: string;
}

function exchange(url: string, { from, ...sent }: Sent): Promise<ObservedExchange> {
  const { method, path, requestHeaders: headers, requestBody } = sent;
  return new Promise((resolve, reject) => {
    const call = request(`${url}${path}`, { method, headers, localAddress: from, agent: false });
    call.on('error', reject);
    call.on('response', (response) => {
      text(response).then((body) => {
        const received = Object.entries(response.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        const { statusCode: status = 0 } = response;
        resolve({ ...sent, status, headers: Object.fromEntries(received), body });
      }, reject);
    });
    call.end(requestBody);
  });
}

function present(requestBody: string | undefined): Pick<ObservedExchange, 'requestBody'> {
  return requestBody === undefined ? {} : { requestBody };
}

function objectIn(body: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(body);
    return typeof found === 'object' && found !== null ? { ...found } : {};
  } catch {
    return {};
  }
}
