import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, type ApiAnswer } from '#libs/client/api-client.js';
import { OwnedCluster, startCluster } from '#libs/testing/cluster/cluster.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import { sharedCluster } from '#libs/testing/cluster/shared-cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';
import type {
  AuctionJson,
  PreflightJson,
  QuoteJson,
  TimelineEntryJson,
  TimelinePage,
} from '#libs/client/wire.js';

/** One contract, in quantity atoms. */
export const CONTRACT = 1_000_000;
/** A nanosecond instant has nine digits after the second. */
export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type Fields = Readonly<Record<string, unknown>>;
export type TraderRole = 'originator' | 'maker';

/** One account and its session. */
export class Trader {
  constructor(
    readonly name: string,
    readonly accountId: string,
    readonly api: ApiClient,
  ) {}

  create(body: Fields, key?: string): Promise<ApiAnswer<AuctionJson>> {
    return this.api.post('/v1/auctions', body, key);
  }

  /** An auction that must be created. */
  async opens(body: Fields): Promise<AuctionJson> {
    return mustBe(201, await this.create(body));
  }

  cancel(auctionId: string, body: Fields = {}, key?: string): Promise<ApiAnswer<AuctionJson>> {
    return this.api.post(`/v1/auctions/${auctionId}/cancel`, body, key);
  }

  submit(auctionId: string, terms: Fields, key?: string): Promise<ApiAnswer<QuoteJson>> {
    return this.api.post(`/v1/auctions/${auctionId}/quotes`, terms, key);
  }

  /** A quote that must be accepted. */
  async quotes(auctionId: string, price: number, contracts: number, more: Fields = {}): Promise<QuoteJson> {
    const terms = { price_atoms: price, quantity_atoms: contracts * CONTRACT, ...more };
    return mustBe(201, await this.submit(auctionId, terms));
  }

  revise(quote: QuoteJson, terms: Fields, key?: string): Promise<ApiAnswer<QuoteJson>> {
    const body = { expected_revision: quote.revision, ...terms };
    return this.api.post(`/v1/auctions/${quote.auction_id}/quotes/${quote.quote_id}/revise`, body, key);
  }

  withdraw(quote: QuoteJson, body: Fields = {}, key?: string): Promise<ApiAnswer<QuoteJson>> {
    return this.api.post(`/v1/auctions/${quote.auction_id}/quotes/${quote.quote_id}/withdraw`, body, key);
  }

  preflightQuote(auctionId: string, price: number, quantity: number): Promise<ApiAnswer<PreflightJson>> {
    const body = { price_atoms: price, max_executable_quantity_atoms: quantity };
    return this.api.post(`/v1/auctions/${auctionId}/quotes/preflight`, body, null);
  }

  preflightCreate(body: Fields): Promise<ApiAnswer<PreflightJson>> {
    return this.api.post('/v1/auctions/preflight', body, null);
  }

  get(auctionId: string): Promise<ApiAnswer<AuctionJson>> {
    return this.api.get(`/v1/auctions/${auctionId}`);
  }

  async view(auctionId: string): Promise<AuctionJson> {
    return mustBe(200, await this.get(auctionId));
  }

  async timeline(auctionId: string): Promise<readonly TimelineEntryJson[]> {
    const page = mustBe(200, await this.api.get<TimelinePage>(`/v1/auctions/${auctionId}/events?limit=1000`));
    return page.events;
  }

  async myQuotes(auctionId: string): Promise<readonly QuoteJson[]> {
    return mustBe(200, await this.api.get<{ quotes: QuoteJson[] }>(`/v1/auctions/${auctionId}/quotes`))
      .quotes;
  }

  /** The view once its status is one of these. */
  until(auctionId: string, ...statuses: string[]): Promise<AuctionJson> {
    return eventually(async () => {
      const view = await this.view(auctionId);
      if (!statuses.includes(view.status))
        throw new Error(`${this.name} sees ${auctionId} as ${view.status}`);
      return view;
    });
  }

  /** The answer once it comes from the completed projection. */
  untilCompletedRead(auctionId: string): Promise<ApiAnswer<AuctionJson>> {
    return eventually(async () => {
      const answer = await this.get(auctionId);
      if (answer.headers['x-auction-completed-as-of'] === undefined)
        throw new Error('still read from its owner');
      return answer;
    });
  }
}

/** The traders of a test and the contracts that they trade. */
export class TradingFloor {
  private readonly sessions = new Map<string, Promise<Trader>>();
  readonly anybody: ApiClient;

  constructor(readonly cluster: RunningCluster) {
    this.anybody = new ApiClient(cluster.gatewayUrl);
  }

  /** A demo account by the first part of its address, logged in once. */
  trader(name: string): Promise<Trader> {
    const known = this.sessions.get(name) ?? this.logIn(name);
    this.sessions.set(name, known);
    return known;
  }

  traders(...names: string[]): Promise<Trader[]> {
    return Promise.all(names.map((name) => this.trader(name)));
  }

  /** An account that no other spec of the run uses, with the balances and rights of the demo. */
  newTrader(role: TraderRole): Promise<Trader> {
    const taken = path.join(this.cluster.dataDir, 'taken-accounts');
    mkdirSync(taken, { recursive: true });
    for (let number = 1; this.knows(`load-${role}-${number}`); number += 1) {
      const name = `load-${role}-${number}`;
      if (takes(path.join(taken, name))) return this.trader(name);
    }
    throw new Error(`every ${role} is taken: the cluster needs more LOAD_ACCOUNTS`);
  }

  newTraders<const Roles extends readonly TraderRole[]>(
    ...roles: Roles
  ): Promise<{ -readonly [Index in keyof Roles]: Trader }> {
    return Promise.all(roles.map((role) => this.newTrader(role))) as Promise<{
      -readonly [Index in keyof Roles]: Trader;
    }>;
  }

  accountOf(name: string): string {
    const user = this.cluster.file.demo.users.find(({ email }) => email === `${name}@demo.sotto`);
    if (user === undefined) throw new Error(`there is no demo user ${name}`);
    return user.account_id;
  }

  /** The contracts of a venue in a fixed order; suites use different ones if balances matter. */
  contract(venue: string, index = 0): ClusterContract {
    const found = this.cluster.file.contracts.filter((contract) => contract.venue === venue)[index];
    if (found === undefined) throw new Error(`${venue} has no contract ${index}`);
    return found;
  }

  close(): void {
    this.anybody.close();
    for (const session of this.sessions.values()) void session.then(({ api }) => api.close());
  }

  /** Closes it, and stops a cluster that was started for it alone. */
  async end(): Promise<void> {
    this.close();
    if (this.cluster instanceof OwnedCluster) await this.cluster.stop();
  }

  private knows(name: string): boolean {
    return this.cluster.file.demo.users.some(({ email }) => email === `${name}@demo.sotto`);
  }

  private async logIn(name: string): Promise<Trader> {
    const api = await this.anybody.login(`${name}@demo.sotto`, this.cluster.file.demo.password);
    return new Trader(name, this.accountOf(name), api);
  }
}

/** The floor on the shared cluster; each spec uses its own accounts. */
export async function sharedFloor(): Promise<TradingFloor> {
  return new TradingFloor(await sharedCluster());
}

/** A separate floor with production limits and two gateways, and with short time limits for what is missing. */
export async function plainFloor(more: Readonly<Record<string, string>> = {}): Promise<TradingFloor> {
  const env = { GATEWAYS: '2', OWNER_TIMEOUT_MS: '1500', PROJECTION_MAX_LAG_MS: '3000', ...more };
  return new TradingFloor(await startCluster({ env }));
}

export function routeOf({ venue, contract_id, outcome }: ClusterContract): Fields {
  return { venue, contract_id, outcome };
}

/** A plain auction of ten contracts for these makers; every field can be replaced, or left out with undefined. */
export function auctionBody(
  contract: ClusterContract,
  makers: readonly Trader[],
  differing: Fields = {},
): Fields {
  return {
    side: 'BUY',
    quantity_atoms: 10 * CONTRACT,
    routes: [routeOf(contract)],
    duration_ms: 60_000,
    audience: { market_maker_ids: makers.map(({ accountId }) => accountId) },
    ...differing,
  };
}

/** The body of an answer with this status; any other status fails the test. */
export function mustBe<Body>(status: number, answer: ApiAnswer<Body>): Body {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${answer.text}`);
  return answer.body;
}

/** Status and code, which tables of refusals compare. */
export function verdict(answer: ApiAnswer<unknown>): string {
  const { error } = (answer.body ?? {}) as { error?: string };
  return error === undefined ? String(answer.status) : `${answer.status} ${error}`;
}

export function kinds(entries: readonly TimelineEntryJson[]): string[] {
  return entries.map(({ kind }) => kind);
}

export function only(entries: readonly TimelineEntryJson[], kind: string): TimelineEntryJson {
  const found = entries.filter((entry) => entry.kind === kind);
  if (found[0] === undefined || found.length > 1) throw new Error(`${found.length} entries of kind ${kind}`);
  return found[0];
}

/** Waits until this many milliseconds after an instant of the service, whose clock is the machine's. */
export async function untilPast(instant: string, millis = 0): Promise<void> {
  const wait = Date.parse(instant) + millis - Date.now();
  if (wait > 0) await sleep(wait);
}

/** Whether this caller took the name: a folder is made only once. */
function takes(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
