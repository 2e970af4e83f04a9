import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { eventually } from '#libs/testing/eventually.js';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';

export interface CallAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export type OrderJson = Record<string, unknown> & {
  readonly order_id: string;
  readonly status: string;
  readonly filled_quantity: string;
};

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

async function ask(
  method: Method,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<CallAnswer> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: asObject(text) };
}

function asObject(text: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null ? { ...found } : {};
  } catch {
    return {};
  }
}

/** A demo user that trades with one of its keys. */
export class DemoTrader {
  constructor(
    private readonly url: string,
    readonly headers: Readonly<Record<string, string>>,
    readonly userId: string,
  ) {}

  send(method: Method, path: string, body?: unknown): Promise<CallAnswer> {
    return ask(method, `${this.url}${path}`, this.headers, body);
  }

  submit(order: Readonly<Record<string, unknown>>): Promise<CallAnswer> {
    return this.send('POST', '/orders', { client_order_id: randomUUID(), ...order });
  }

  /** Submits, again under the same id if the answer says so, and waits for the wanted status. */
  async place(order: Readonly<Record<string, unknown>>, ...statuses: readonly string[]): Promise<OrderJson> {
    const named = { client_order_id: randomUUID(), ...order };
    const answer = await eventually(async () => {
      const found = await this.submit(named);
      if (found.status === 429 || found.status === 503) throw new Error(`${found.status} ${found.text}`);
      return found;
    });
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    return this.until(String(answer.body.order_id), ...statuses);
  }

  async order(id: string): Promise<OrderJson> {
    const { status, body, text } = await this.send('GET', `/orders/${id}`);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return body as OrderJson;
  }

  until(id: string, ...statuses: readonly string[]): Promise<OrderJson> {
    return eventually(async () => {
      const order = await this.order(id);
      if (!statuses.includes(order.status)) {
        throw new Error(`${order.status}, not ${statuses.join(' or ')}: ${JSON.stringify(order)}`);
      }
      return order;
    }, 15_000);
  }
}

/** The fields of a market that specs need. */
const marketRecord = z.object({
  market_id: z.string(),
  outcomes: z.array(z.object({ outcome: z.string(), token_id: z.string().optional() })),
});
export type VenueMarketJson = z.output<typeof marketRecord>;

/** The practice venues and the demo traders of a cluster. */
export class OrdersFloor {
  constructor(readonly cluster: RunningCluster) {}

  get url(): string {
    return this.cluster.file.execution_url ?? '';
  }

  trader(name: string, key = 'trading'): DemoTrader {
    const user = this.cluster.file.demo.users.find(({ email }) => email.startsWith(`${name}@`));
    const triple = user?.api_keys?.find(({ name: found }) => found === key);
    if (user === undefined || triple === undefined) throw new Error(`${name} has no key ${key}`);
    return this.withKey(triple, user.account_id);
  }

  withKey(
    triple: Readonly<Record<'client_id' | 'api_key' | 'api_secret', string>>,
    userId: string,
  ): DemoTrader {
    const headers = {
      'x-client-id': triple.client_id,
      'x-api-key': triple.api_key,
      'x-api-secret': triple.api_secret,
    };
    return new DemoTrader(this.url, headers, userId);
  }

  /** From the practice venues' admin listener. */
  async admin(method: Method, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await ask(method, `${this.cluster.file.practice?.admin_url ?? ''}${path}`, {}, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  /** A new market that no bot quotes. */
  async market(exchange_id: string, more: Readonly<Record<string, unknown>> = {}): Promise<VenueMarketJson> {
    return marketRecord.parse(await this.admin('POST', '/markets', { exchange_id, ...more }));
  }
}

/** The fields of an order that name market and outcome. */
export function namesOf(
  exchange_id: string,
  { market_id, outcomes }: VenueMarketJson,
  index: 0 | 1,
): Readonly<Record<string, unknown>> {
  const found = outcomes[index];
  if (found === undefined) throw new Error('a market has two outcomes');
  const { outcome, token_id } = found;
  return { exchange_id, market_id, outcome, ...(token_id === undefined ? {} : { token_id }) };
}
