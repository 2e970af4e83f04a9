import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import type { ClusterFile, ClusterUser } from '#libs/testing/cluster/cluster-file.js';
import { HttpConnection } from '../load/http-connection.js';
import { MakerStream } from '../load/maker-stream.js';

export interface Trader {
  readonly account: string;
  readonly token: string;
}

const LOGINS_AT_ONCE = 4;
const DURATION_MS = 86_400_000;
const QUANTITY_ATOMS = 1_000_000;
const RESERVE_ATOMS = 600_000;

/** A cluster whose traders have logged in. Everything here goes through the public interface. */
export class TradingFloor {
  private readonly streams: MakerStream[] = [];
  private made = 0;
  /** Read once: the file names all the users too. */
  private readonly contracts: ClusterFile['contracts'];

  private constructor(
    readonly cluster: OwnedCluster,
    readonly makers: readonly Trader[],
    readonly originators: readonly Trader[],
  ) {
    this.contracts = cluster.file.contracts;
  }

  static async open(cluster: OwnedCluster): Promise<TradingFloor> {
    const { users } = cluster.file.demo;
    const makers = await login(cluster, loadUsers(users, 'load-maker-'));
    const originators = await login(cluster, loadUsers(users, 'load-originator-'));
    return new TradingFloor(cluster, makers, originators);
  }

  get gatewayUrl(): string {
    return this.cluster.gatewayUrl;
  }

  /** One connection to the stream for each. */
  async streamsOf(traders: readonly Trader[]): Promise<MakerStream[]> {
    const opened: MakerStream[] = [];
    for (const { token } of traders) opened.push(await MakerStream.open(this.gatewayUrl, token));
    this.streams.push(...opened);
    return opened;
  }

  http(): HttpConnection {
    return new HttpConnection(this.gatewayUrl);
  }

  /** The body of a create for these makers. */
  createBody(makers: readonly Trader[]): string {
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

  /** So many auctions with so many makers each, taken in turn from the first ones; the id and the places of its makers. */
  async openAuctions(
    count: number,
    audience: number,
    among = this.makers.length,
  ): Promise<{ id: string; makers: number[] }[]> {
    const connection = this.http();
    const auctions: { id: string; makers: number[] }[] = [];
    for (let number = 0; number < count; number += 1) {
      const makers = Array.from({ length: audience }, (_, place) => (number * audience + place) % among);
      const invited = makers.map((place) => this.makers[place]).filter((maker) => maker !== undefined);
      const { status, body } = await connection.send({
        method: 'POST',
        path: '/v1/auctions',
        headers: this.headersOf(number, `floor-${this.made}-${number}`),
        body: this.createBody(invited),
      });
      if (status !== 201) throw new Error(`a create was answered ${status} ${body}`);
      auctions.push({ id: (JSON.parse(body) as { auction_id: string }).auction_id, makers });
    }
    connection.close();
    return auctions;
  }

  /** Of the originator whose turn it is. */
  headersOf(number: number, key: string): Record<string, string> {
    const originator = this.originators[number % this.originators.length];
    if (originator === undefined) throw new Error('nobody may create');
    return { authorization: `Bearer ${originator.token}`, 'idempotency-key': key };
  }

  async close(): Promise<void> {
    for (const stream of this.streams) stream.close();
    await Promise.resolve();
  }
}

function loadUsers(users: readonly ClusterUser[], name: string): ClusterUser[] {
  return users.filter(({ email }) => email.startsWith(name));
}

async function login(cluster: OwnedCluster, users: readonly ClusterUser[]): Promise<Trader[]> {
  const { password } = cluster.file.demo;
  const traders: Trader[] = [];
  const waiting = [...users.entries()];
  await Promise.all(
    Array.from({ length: LOGINS_AT_ONCE }, async () => {
      const connection = new HttpConnection(cluster.gatewayUrl);
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [place, { email, account_id: account }] = next;
        const body = JSON.stringify({ email, password });
        const answer = await connection.send({ method: 'POST', path: '/auth/login', body });
        if (answer.status !== 200) throw new Error(`${email} cannot log in: ${answer.status} ${answer.body}`);
        traders[place] = {
          account,
          token: (JSON.parse(answer.body) as { access_token: string }).access_token,
        };
      }
      connection.close();
    }),
  );
  return traders;
}
