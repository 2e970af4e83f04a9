import { createHash, randomUUID } from 'node:crypto';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import { sharedCluster } from '#libs/testing/cluster/shared-cluster.js';
import { StreamClient, type StreamOptions } from '#libs/client/stream-client.js';
import { mustBe, type Trader, TradingFloor } from './trading-floor.js';

type Fields = Readonly<Record<string, unknown>>;

interface Issued {
  readonly access_token: string;
}

/** A gateway by its number. */
type Where = { readonly gateway?: number } & StreamOptions;

/** A floor whose traders open streams. All of them are closed at the end. */
export class StreamFloor extends TradingFloor {
  private readonly tokens = new Map<string, Promise<string>>();
  private readonly opened: StreamClient[] = [];

  gatewayUrl(gateway = 0): string {
    const { url } = this.cluster.process(`gateway-${gateway}`);
    if (url === undefined) throw new Error(`gateway-${gateway} listens nowhere`);
    return url;
  }

  /** Of a session that is kept for this purpose. */
  token(name: string): Promise<string> {
    const known = this.tokens.get(name) ?? this.newToken(name);
    this.tokens.set(name, known);
    return known;
  }

  /** Of a new session, which may be ended. */
  async newToken(name: string): Promise<string> {
    const body = { email: `${name}@demo.sotto`, password: this.cluster.file.demo.password };
    return mustBe(200, await this.anybody.send<Issued>('POST', '/auth/login', { body })).access_token;
  }

  async open({ gateway = 0, ...options }: Where = {}): Promise<StreamClient> {
    const client = await StreamClient.open(this.gatewayUrl(gateway), options);
    this.opened.push(client);
    return client;
  }

  /** Opened and greeted. */
  async listen(name: string, hello: Fields = {}, where: Where = {}): Promise<StreamClient> {
    const client = await this.open({ token: await this.token(name), ...where });
    await client.hello(hello);
    return client;
  }

  /** Resumes an earlier stream. */
  async goesOn(
    name: string,
    earlier: StreamClient,
    where: Where = {},
    hello: Fields = {},
  ): Promise<StreamClient> {
    const client = await this.open({ token: await this.token(name), memory: earlier.memory, ...where });
    await client.resume(hello);
    return client;
  }

  override close(): void {
    for (const client of this.opened) client.kill();
    super.close();
  }
}

/** On the cluster that specs share. */
export async function streamFloor(): Promise<StreamFloor> {
  return new StreamFloor(await sharedCluster());
}

/** A separate floor with heartbeats twice a second, and gateways that keep little history. */
export async function quickStreamFloor(): Promise<StreamFloor> {
  const settings = { GATEWAYS: '2', LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:8,originators:3' };
  const quick = { STREAM_HEARTBEAT_MS: '500', STREAM_HISTORY_EVENTS: '100' };
  return new StreamFloor(await startCluster({ env: { ...settings, ...quick } }));
}

/** A key that leads this account's create to that owner, as the contract defines it. */
export function keyFor({ accountId }: Trader, shard: number): string {
  for (;;) {
    const key = randomUUID();
    const hash = createHash('sha256').update(`${accountId}\0${key}`).digest();
    if (Number(hash.readBigUInt64BE() % 3n) === shard) return key;
  }
}
