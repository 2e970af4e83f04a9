import { randomUUID } from 'node:crypto';
import { shardOfCreate } from '#libs/auction/protocol/routing.js';
import type { ApiAnswer } from '#libs/client/api-client.js';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';
import type { HaltJson, ShardRowJson } from '#libs/client/operator-wire.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { ServiceRecords } from './books.js';
import { auctionBody, CONTRACT, mustBe, TradingFloor, verdict, type Trader } from './trading-floor.js';

export type { HaltJson, ShardRowJson };

export interface Action {
  readonly entry: number;
  readonly action_id: string;
  readonly action: string;
  readonly target: string;
  readonly by: string;
  readonly request_id: string;
  readonly outcome: string;
  readonly reason?: string;
  readonly error?: string;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A separate cluster: drains and halts would disturb other suites. */
export class OperatorFloor {
  readonly books: ServiceRecords;
  private standing: readonly string[] = [];

  private constructor(
    readonly cluster: RunningCluster,
    readonly floor: TradingFloor,
    readonly operator: Trader,
    readonly originator: Trader,
    readonly makers: readonly [Trader, Trader],
  ) {
    this.books = new ServiceRecords(cluster);
  }

  static async open(): Promise<OperatorFloor> {
    const env = { GATEWAYS: '2', LIMITS_FACTOR: '50', OWNER_TIMEOUT_MS: '1500' };
    const cluster = await startCluster({ env });
    const floor = new TradingFloor(cluster);
    const [operator, originator, ...makers] = await floor.traders(
      'operator-1',
      'originator-1',
      'maker-1',
      'maker-2',
    );
    return new OperatorFloor(cluster, floor, operator!, originator!, makers as [Trader, Trader]);
  }

  post<Body>(path: string, body: unknown, headers = {}): Promise<ApiAnswer<Body>> {
    return this.operator.api.send<Body>('POST', `/v1/ops/${path}`, { body, headers });
  }

  async shards(): Promise<readonly ShardRowJson[]> {
    return mustBe(200, await this.operator.api.get<{ shards: ShardRowJson[] }>('/v1/ops/shards')).shards;
  }

  async rowOf(shard: number): Promise<ShardRowJson> {
    const found = (await this.shards()).find((row) => row.shard === shard);
    if (found === undefined) throw new Error(`no row of shard ${shard}`);
    return found;
  }

  async actions(): Promise<readonly Action[]> {
    return mustBe(200, await this.operator.api.get<{ actions: Action[] }>('/v1/ops/actions')).actions;
  }

  async imposes(body: Fields): Promise<HaltJson> {
    const asked = { what: ['CREATE', 'QUOTE'], reason: 'drill', ...body };
    const halt = mustBe(201, await this.post<HaltJson>('halts', asked));
    this.standing = [...this.standing, halt.halt_id];
    return halt;
  }

  async lifts({ halt_id: id }: HaltJson): Promise<void> {
    mustBe(204, await this.operator.api.send('DELETE', `/v1/ops/halts/${id}`));
    this.standing = this.standing.filter((halt) => halt !== id);
  }

  /** Lifts the halts that a failed test has left. */
  async liftAll(): Promise<void> {
    for (const id of this.standing) await this.operator.api.send('DELETE', `/v1/ops/halts/${id}`);
    this.standing = [];
  }

  /** A key that leads the originator's create to the shard. */
  keyTo(shard: number): string {
    for (;;) {
      const key = randomUUID();
      if (shardOfCreate(this.originator.accountId, key) === shard) return key;
    }
  }

  async opensOn(shard: number, differing: Fields = {}): Promise<AuctionJson> {
    const body = auctionBody(this.floor.contract('venue_a'), this.makers, differing);
    return mustBe(201, await this.originator.create(body, this.keyTo(shard)));
  }

  /** The answer to a create; a created auction is cancelled. */
  async creating(body: Fields, key?: string): Promise<string> {
    const answer = await this.originator.create(body, key);
    if (answer.status === 201) mustBe(200, await this.originator.cancel(answer.body.auction_id));
    return verdict(answer);
  }

  /** The answer to a quote; an accepted one is withdrawn. */
  async quoting(maker: Trader, auctionId: string): Promise<string> {
    const answer = await maker.submit(auctionId, { price_atoms: 500_000, quantity_atoms: CONTRACT });
    if (answer.status === 201) mustBe(200, await maker.withdraw(answer.body));
    return verdict(answer);
  }

  async close(): Promise<void> {
    await this.books.close();
    await this.floor.end();
  }
}
