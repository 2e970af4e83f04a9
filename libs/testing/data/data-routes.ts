import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import { DataCaller } from '#libs/data/api/callers.js';
import { dataDialect } from '#libs/data/api/dialect.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';

export type CallerKind = DataCaller['kind'];

export interface ReadReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

/** Some routes as the service has them. Their callers need no credentials. */
export interface DataRoutes {
  readonly faults: readonly unknown[];
  readonly url: string;
  get(path: string, caller?: CallerKind): Promise<ReadReply>;
  send(method: string, path: string, body?: unknown, caller?: CallerKind): Promise<ReadReply>;
  close(): Promise<void>;
}

export const CALLER = 'x-test-caller';
const SCOPES = ['trade:read', 'position:read'];

export async function openDataRoutes(controllers: readonly object[]): Promise<DataRoutes> {
  const faults: unknown[] = [];
  const listener = new EdgeListener({
    dialect: dataDialect({
      callers: {
        callerOf: ({ headers }) => callerOf(headers[CALLER]),
        isAdmin: ({ headers }) => headers[CALLER] === 'admin',
      },
      addressOf: () => '127.0.0.1',
      counter: { count: () => undefined },
      freshness: { note: () => undefined, headersFor: () => ({}) },
    }),
    authenticator: { authenticate: () => 'unauthorized' },
    clock: new SystemClock(),
    newRequestId: randomUUID,
    onFault: (error) => faults.push(error),
  });
  listener.mount(controllers);
  await listener.listen(0, '127.0.0.1');
  const { port } = listener.server.address() as AddressInfo;
  const send: DataRoutes['send'] = async (method, path, body, caller) => {
    const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, {
      method,
      headers: caller === undefined ? {} : { [CALLER]: caller },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      ...{ status: response.status, headers: response.headers, text },
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  return {
    faults,
    url: `http://127.0.0.1:${String(port)}`,
    get: (path, caller) => send('GET', path, undefined, caller),
    send,
    close: () => listener.close(),
  };
}

function callerOf(kind: string | string[] | undefined): DataCaller | undefined {
  if (kind !== 'key' && kind !== 'session' && kind !== 'admin') return undefined;
  return new DataCaller({ userId: 'u', kind, scopes: SCOPES, isInvited: true });
}
