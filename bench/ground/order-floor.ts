import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { BKeys } from '#libs/testing/practice-b.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { OrderSocket, type OrderMessage } from '../load/order-socket.js';

export interface BenchOwner {
  readonly userId: string;
  /** The three headers of its API key. */
  readonly headers: Readonly<Record<string, string>>;
}

const NAMES = ['trader-1', 'trader-2', 'trader-3', 'trader-4'];
const VENUE = 'venue_b';
/** Five dollars: the smallest buy order that an API key may place. */
const PRICE = 0.01;
const QUANTITY = 500;
const RETRY_MS = 100;

const marketBody = z.object({ market_id: z.string() });
const keysBody = z.object({ account: z.string(), key_id: z.string(), private_key_pem: z.string() });
const ackBody = z.object({ result: z.object({ order_id: z.string() }) });
const cancelledBody = z.object({ result: z.object({ requested: z.number(), pending: z.number() }) });

/** A cluster that executes orders, with the demo traders of both cells on their sockets. */
export class OrderFloor {
  private readonly sockets: OrderSocket[] = [];
  private made = 0;

  private constructor(
    readonly cluster: OwnedCluster,
    readonly owners: readonly BenchOwner[],
  ) {}

  static open(cluster: OwnedCluster): OrderFloor {
    return new OrderFloor(
      cluster,
      NAMES.map((name) => ownerOf(cluster, name)),
    );
  }

  get url(): string {
    return this.cluster.file.execution_url ?? '';
  }

  /** The port of the practice venue's own API. */
  get venuePort(): number {
    const venue = this.cluster.file.practice?.venues.find(({ exchange_id: id }) => id === VENUE);
    return Number(new URL(venue?.rest_url ?? '').port);
  }

  /** Opens markets that no bot quotes. */
  async markets(count: number): Promise<string[]> {
    const made: string[] = [];
    for (let number = 0; number < count; number += 1) {
      const body = await this.admin('/markets', { exchange_id: VENUE, tick_size: '0.01' });
      made.push(marketBody.parse(body).market_id);
    }
    return made;
  }

  /** An account at the venue itself, with its key. */
  async account(dollars: string): Promise<BKeys> {
    const keys = keysBody.parse(await this.admin('/accounts', { exchange_id: VENUE }));
    await this.admin('/faucet', { exchange_id: VENUE, account: keys.account, amount: dollars });
    return keys;
  }

  /** Sockets of all traders in turn, so that both cells share the load. */
  async open(count: number): Promise<OrderSocket[]> {
    const opened: OrderSocket[] = [];
    for (let number = 0; number < count; number += 1) opened.push(await this.socketOf(number));
    return opened;
  }

  async socketOf(owner: number): Promise<OrderSocket> {
    const socket = await OrderSocket.open(this.url, this.owner(owner).headers);
    this.sockets.push(socket);
    return socket;
  }

  owner(number: number): BenchOwner {
    const owner = this.owners[number % this.owners.length];
    if (owner === undefined) throw new Error('there is no trader');
    return owner;
  }

  /** An order that rests: no bot sells for a cent. */
  resting(market_id: string): Readonly<Record<string, unknown>> {
    this.made += 1;
    return {
      ...{ exchange_id: VENUE, market_id, outcome: 'Yes', side: 'buy', kind: 'limit' },
      ...{ price: PRICE, quantity: QUANTITY, client_order_id: `bench-${this.made}-${randomUUID()}` },
    };
  }

  /** Ends all live orders: waiting ones are never sent, resting ones are cancelled at the venue. */
  async clear(): Promise<void> {
    for (const owner of this.owners.keys()) {
      const socket = await OrderSocket.open(this.url, this.owner(owner).headers);
      for (;;) {
        const { result } = cancelledBody.parse(await socket.ask('order.cancel_all', { exchange_id: VENUE }));
        if (result.requested === 0) break;
        await sleep(RETRY_MS);
      }
      socket.kill();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.kill();
    await Promise.resolve();
  }

  private async admin(path: string, body: object): Promise<unknown> {
    const { practice } = this.cluster.file;
    const response = await fetch(`${practice?.admin_url ?? ''}${path}`, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json' },
    });
    if (response.status >= 300) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}

/** The id of the accepted order. */
export function acceptedIn(reply: OrderMessage): string {
  if (reply.type !== 'ack') throw new Error(`a submit was refused: ${JSON.stringify(reply)}`);
  return ackBody.parse(reply).result.order_id;
}

function ownerOf({ file }: OwnedCluster, name: string): BenchOwner {
  const user = file.demo.users.find(({ email }) => email.startsWith(`${name}@`));
  const key = user?.api_keys?.find(({ name: found }) => found === 'trading');
  if (user === undefined || key === undefined) throw new Error(`${name} has no key`);
  const { client_id, api_key, api_secret } = key;
  return {
    userId: user.account_id,
    headers: { 'x-client-id': client_id, 'x-api-key': api_key, 'x-api-secret': api_secret },
  };
}
