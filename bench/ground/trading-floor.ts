import { ApiClient } from '#libs/client/api-client.js';
import { StreamClient } from '#libs/client/stream-client.js';
import type { AuctionJson } from '#libs/client/wire.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import type { ClusterFile, ClusterUser } from '#libs/testing/cluster/cluster-file.js';
import { HttpConnection } from '../load/http-connection.js';

export interface BenchTrader {
  readonly account: string;
  readonly token: string;
}

const LOGINS_AT_ONCE = 4;
const DURATION_MS = 86_400_000;
const QUANTITY_ATOMS = 1_000_000;
const RESERVE_ATOMS = 600_000;

/** A cluster with logged-in traders. Everything here uses the public interface. */
export class BenchFloor {
  private readonly streams: StreamClient[] = [];
  private made = 0;
  /** Read once, because the file also lists all users. */
  private readonly contracts: ClusterFile['contracts'];

  private constructor(
    readonly cluster: OwnedCluster,
    readonly makers: readonly BenchTrader[],
    readonly originators: readonly BenchTrader[],
  ) {
    this.contracts = cluster.file.contracts;
  }

  static async open(cluster: OwnedCluster): Promise<BenchFloor> {
    const { users } = cluster.file.demo;
    const makers = await login(cluster, loadUsers(users, 'load-maker-'));
    const originators = await login(cluster, loadUsers(users, 'load-originator-'));
    return new BenchFloor(cluster, makers, originators);
  }

  get gatewayUrl(): string {
    return this.cluster.gatewayUrl;
  }

  /** One stream connection for each trader. Received frames are not stored. */
  async streamsOf(traders: readonly BenchTrader[]): Promise<StreamClient[]> {
    const opened: StreamClient[] = [];
    for (const { token } of traders) {
      const stream = await StreamClient.open(this.gatewayUrl, { token, keepsNothing: true });
      await stream.hello();
      opened.push(stream);
    }
    this.streams.push(...opened);
    return opened;
  }

  http(): HttpConnection {
    return new HttpConnection(this.gatewayUrl);
  }

  /** The body of a create that invites these makers. */
  createBody(makers: readonly BenchTrader[]): string {
    const contract = this.contracts[this.made % this.contracts.length];
    if (contract === undefined) throw new Error('there are no contracts');
    this.made += 1;
    const { venue, contract_id, outcome } = contract;
    return JSON.stringify({
      side: this.made % 2 === 0 ? 'BUY' : 'SELL',
      quantity_atoms: QUANTITY_ATOMS,
      routes: [{ venue, contract_id, outcome }],
      limit_price_atoms: RESERVE_ATOMS,
      duration_ms: DURATION_MS,
      audience: { market_maker_ids: makers.map(({ account }) => account) },
    });
  }

  /**
   * Opens auctions with this many makers each, taken in turn. Resolves with each id and the indexes of its
   * makers.
   */
  async openAuctions(
    count: number,
    audience: number,
    among = this.makers.length,
  ): Promise<{ id: string; makers: number[] }[]> {
    const api = new ApiClient(this.gatewayUrl);
    const auctions: { id: string; makers: number[] }[] = [];
    for (let number = 0; number < count; number += 1) {
      const makers = Array.from({ length: audience }, (_, index) => (number * audience + index) % among);
      const invited = makers.map((index) => this.makers[index]).filter((maker) => maker !== undefined);
      const { status, text, body } = await api.send<AuctionJson>('POST', '/v1/auctions', {
        headers: this.headersOf(number, `floor-${this.made}-${number}`),
        raw: this.createBody(invited),
      });
      if (status !== 201) throw new Error(`a create was answered ${status} ${text}`);
      auctions.push({ id: body.auction_id, makers });
    }
    api.close();
    return auctions;
  }

  /** The headers of the originator whose turn it is. */
  headersOf(number: number, key: string): Record<string, string> {
    const originator = this.originators[number % this.originators.length];
    if (originator === undefined) throw new Error('there is no originator');
    return { authorization: `Bearer ${originator.token}`, 'idempotency-key': key };
  }

  async close(): Promise<void> {
    for (const stream of this.streams) stream.kill();
    await Promise.resolve();
  }
}

function loadUsers(users: readonly ClusterUser[], name: string): ClusterUser[] {
  return users.filter(({ email }) => email.startsWith(name));
}

async function login(cluster: OwnedCluster, users: readonly ClusterUser[]): Promise<BenchTrader[]> {
  const { password } = cluster.file.demo;
  const traders: BenchTrader[] = [];
  const waiting = [...users.entries()];
  const anonymous = new ApiClient(cluster.gatewayUrl);
  await Promise.all(
    Array.from({ length: LOGINS_AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, { email, account_id: account }] = next;
        traders[index] = { account, token: await anonymous.tokenOf(email, password) };
      }
    }),
  );
  anonymous.close();
  return traders;
}
