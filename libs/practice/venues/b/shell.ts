import type { WebSocket } from 'ws';
import type { CallKind, Faults } from '../../faults.js';
import type { MarketTerms, Millis } from '../../venue/terms.js';
import type { PracticeVenuePort } from '../../venue/venue-reads.js';
import { plainText } from '../http-exchange.js';
import type { NewMarket, VenueAnswer, VenueRequest, VenueShell } from '../venue-shell.js';
import { accountNamed, BAccounts, engineAccount } from './accounts.js';
import { bookRecord, isListed, marketRecord, newMarketOfB, seedsOfB, tradeRecord } from './markets.js';
import { BOrders } from './orders.js';
import { page } from './page.js';
import { BPortfolio } from './portfolio.js';
import { invalid, notFound, refused } from './refusals.js';
import { BSocket } from './socket.js';
import { BTransfers } from './transfers.js';

const ROOT = '/trade-api/v2';
const SOCKET_PATH = '/trade-api/ws/v2';
const ORDERS = '/portfolio/events/orders';
const ALL_LEVELS = 100;
const MOST_BOOKS = 100;
const TICKER_LENGTH = 8;
const SECOND_MS = 1_000;

/** The named parts of a path. */
type Params = Readonly<Record<string, string>>;

interface Route {
  readonly method: string;
  readonly path: RegExp;
  /** Selects the faults that apply. Not set for requests that move money. */
  readonly kind?: CallKind;
  readonly isPublic?: boolean;
  readonly handle: (
    account: string,
    request: VenueRequest,
    params: Params,
  ) => Promise<VenueAnswer> | VenueAnswer;
}

export interface BParts {
  readonly venue: PracticeVenuePort;
  readonly faults: Faults;
}

/**
 * Venue b: version 2 of the trade API, compatible with its published client. Signed with RSA-PSS, with one book of
 * Yes.
 */
export class BShell implements VenueShell {
  readonly exchange_id = 'venue_b';
  private readonly accounts: BAccounts;
  private readonly orders: BOrders;
  private readonly portfolio: BPortfolio;
  private readonly transfers: BTransfers;
  private readonly routes: readonly Route[];

  constructor(private readonly parts: BParts) {
    const { venue, faults } = parts;
    this.accounts = new BAccounts(venue);
    this.orders = new BOrders(venue, faults);
    this.portfolio = new BPortfolio(venue, this.orders, faults);
    this.transfers = new BTransfers(venue);
    this.routes = [
      ...this.marketRoutes(),
      ...this.orderRoutes(),
      ...this.portfolioRoutes(),
      ...this.transferRoutes(),
    ];
  }

  kindOf(request: VenueRequest): CallKind | undefined {
    return this.routeOf(request)?.route.kind;
  }

  async handle(request: VenueRequest): Promise<VenueAnswer> {
    const found = this.routeOf(request);
    if (found === undefined) return notFound('no such path');
    const { route, params } = found;
    const account = this.accounts.signer(request);
    if (account === undefined && route.isPublic !== true) return UNAUTHENTICATED;
    const answer = await route.handle(account ?? '', request, params);
    if (request.method === 'GET') await this.parts.venue.durable();
    return answer;
  }

  faulty(fault: 'reject' | 'error' | 'rate_limit'): VenueAnswer {
    if (fault === 'reject') return refused(400, 'rejected', 'the exchange has rejected this');
    return fault === 'error'
      ? refused(500, 'internal_server_error', 'internal server error')
      : refused(429, 'too_many_requests', 'too many requests');
  }

  refuseSocket(request: VenueRequest): VenueAnswer | undefined {
    if (request.path !== SOCKET_PATH) return notFound('no such path');
    return this.accounts.signer(request) === undefined ? UNAUTHENTICATED : undefined;
  }

  socket(socket: WebSocket, request: VenueRequest): void {
    const account = this.accounts.signer(request);
    if (account === undefined) socket.terminate();
    else BSocket.serve({ ...this.parts, portfolio: this.portfolio }, socket, account);
  }

  seedMarkets(now: Millis): readonly MarketTerms[] {
    return seedsOfB(now);
  }

  newMarket(market: NewMarket, now: Millis): Omit<MarketTerms, 'publishes_grid' | 'closes_at' | 'seeded'> {
    const ticker = `KXMADE-${this.parts.venue.newId().slice(0, TICKER_LENGTH).toUpperCase()}`;
    return newMarketOfB(ticker, market, now);
  }

  creditedAccount(account: string, shard = 0): string | undefined {
    const named = accountNamed(this.parts.venue.reads, account);
    return named === undefined ? undefined : engineAccount(named, shard);
  }

  openAccount(account: string | undefined): Promise<Readonly<Record<string, string>>> {
    return this.accounts.open(account);
  }

  private routeOf({
    method,
    path,
  }: VenueRequest): { readonly route: Route; readonly params: Params } | undefined {
    if (!path.startsWith(ROOT)) return undefined;
    for (const route of this.routes) {
      const match = route.method === method ? route.path.exec(path.slice(ROOT.length)) : null;
      if (match !== null) return { route, params: decoded(match.groups ?? {}) };
    }
    return undefined;
  }

  private marketRoutes(): Route[] {
    const { venue, faults } = this.parts;
    const read = { method: 'GET', kind: 'read', isPublic: true } as const;
    return [
      { ...read, path: /^\/exchange\/status$/, handle: () => exchangeStatus(!faults.isHalted) },
      { ...read, path: /^\/markets$/, handle: (_, { query }) => this.marketList(query) },
      { ...read, path: /^\/markets\/trades$/, handle: (_, { query }) => this.tradeList(query) },
      { ...read, path: /^\/markets\/orderbooks$/, handle: (_, { query }) => this.books(query) },
      {
        ...{ ...read, path: /^\/markets\/(?<ticker>[^/]+)$/ },
        handle: (_, __, { ticker = '' }) => {
          const market = venue.reads.market(ticker);
          if (market === undefined) return refused(404, 'market_not_found', 'no market has this ticker');
          return { status: 200, body: { market: marketRecord(market, venue.reads) } };
        },
      },
      {
        ...{ ...read, path: /^\/markets\/(?<ticker>[^/]+)\/orderbook$/ },
        handle: (_, { query }, { ticker = '' }) => {
          const depth = Number(query.get('depth') ?? 0);
          if (venue.reads.market(ticker) === undefined)
            return refused(404, 'market_not_found', 'no market has this ticker');
          if (!Number.isInteger(depth) || depth < 0 || depth > ALL_LEVELS) return invalid('depth');
          const book = bookRecord(ticker, depth === 0 ? Number.POSITIVE_INFINITY : depth, venue.reads);
          return { status: 200, body: { orderbook_fp: book } };
        },
      },
    ];
  }

  private orderRoutes(): Route[] {
    const { orders, portfolio } = this;
    const at = (rest: string): RegExp => new RegExp(`^${ORDERS}${rest}$`);
    const one = '/(?<id>[^/]+)';
    const read = { method: 'GET', kind: 'read' } as const;
    return [
      {
        ...{ method: 'POST', path: at(''), kind: 'submit' },
        handle: (account, { body }) => orders.create(account, parsed(body)),
      },
      { method: 'DELETE', path: at(''), kind: 'cancel', handle: (account) => orders.cancelAll(account) },
      {
        ...{ method: 'DELETE', path: at('/batched'), kind: 'cancel' },
        handle: (account, { body }) => orders.cancelBatch(account, parsed(body)),
      },
      {
        ...{ method: 'DELETE', path: at(one), kind: 'cancel' },
        handle: (account, _, { id = '' }) => orders.cancel(account, id),
      },
      {
        ...{ method: 'POST', path: at(`${one}/amend`), kind: 'amend' },
        handle: (account, { body }, { id = '' }) => orders.amend(account, id, parsed(body)),
      },
      {
        ...{ method: 'POST', path: at(`${one}/decrease`), kind: 'amend' },
        handle: (account, { body }, { id = '' }) => orders.decrease(account, id, parsed(body)),
      },
      {
        ...read,
        path: /^\/portfolio\/orders$/,
        handle: (account, { query }) => portfolio.orderList(account, query),
      },
      {
        ...{ ...read, path: /^\/portfolio\/orders\/(?<id>[^/]+)$/ },
        handle: (account, _, { id = '' }) => portfolio.order(account, id),
      },
    ];
  }

  private portfolioRoutes(): Route[] {
    const { portfolio } = this;
    const read = (name: string, list: (account: string, query: URLSearchParams) => VenueAnswer): Route => ({
      ...{ method: 'GET', path: new RegExp(`^/portfolio/${name}$`), kind: 'read' },
      handle: (account, { query }) => list(account, query),
    });
    return [
      read('fills', (account, query) => portfolio.fillList(account, query)),
      read('positions', (account, query) => portfolio.positions(account, query)),
      read('settlements', (account, query) => portfolio.settlements(account, query)),
      read('pair_payments', (account, query) => portfolio.pairPayments(account, query)),
      read('deposits', (account, query) => portfolio.deposits(account, query)),
      read('balance', (account, query) => portfolio.balance(account, query)),
      read('summary/total_resting_order_value', (account) => portfolio.restingValue(account)),
    ];
  }

  private transferRoutes(): Route[] {
    const { transfers } = this;
    const shards = '/portfolio/intra_exchange_instance_transfer';
    const accounts = '/portfolio/account_transfers';
    const read = { method: 'GET', kind: 'read' } as const;
    return [
      {
        ...{ method: 'POST', path: new RegExp(`^${shards}$`) },
        handle: (account, { body }) => transfers.betweenShards(account, parsed(body)),
      },
      {
        ...{ ...read, path: new RegExp(`^${shards}s$`) },
        handle: (account, { query }) => transfers.shardTransfers(account, query),
      },
      {
        ...{ ...read, path: new RegExp(`^${shards}s/(?<id>[^/]+)$`) },
        handle: (account, _, { id = '' }) => transfers.shardTransfer(account, id),
      },
      {
        ...{ method: 'POST', path: new RegExp(`^${accounts}$`) },
        handle: (account, { body }) => transfers.betweenAccounts(account, parsed(body)),
      },
      {
        ...{ ...read, path: new RegExp(`^${accounts}$`) },
        handle: (account, { query }) => transfers.accountTransfers(account, query),
      },
      {
        ...{ ...read, path: new RegExp(`^${accounts}/(?<id>[^/]+)$`) },
        handle: (account, _, { id = '' }) => transfers.accountTransfer(account, id),
      },
    ];
  }

  private marketList(query: URLSearchParams): VenueAnswer {
    const { reads } = this.parts.venue;
    const tickers = query.get('tickers')?.split(',');
    const markets = [...reads.markets()].filter(
      (market) =>
        isListed(market, query.get('status')) &&
        (tickers === undefined || tickers.includes(market.terms.market_id)),
    );
    const result = page(markets, query);
    if (result === undefined) return invalid('limit or cursor');
    return {
      status: 200,
      body: { markets: result.items.map((market) => marketRecord(market, reads)), cursor: result.cursor },
    };
  }

  /** All levels of each named market that exists. */
  private books(query: URLSearchParams): VenueAnswer {
    const { reads } = this.parts.venue;
    const tickers = query.getAll('tickers');
    if (tickers.length === 0 || tickers.length > MOST_BOOKS) return invalid('tickers');
    const orderbooks = tickers
      .filter((ticker) => reads.market(ticker) !== undefined)
      .map((ticker) => ({ ticker, orderbook_fp: bookRecord(ticker, Number.POSITIVE_INFINITY, reads) }));
    return { status: 200, body: { orderbooks } };
  }

  private tradeList(query: URLSearchParams): VenueAnswer {
    const { reads } = this.parts.venue;
    const ticker = query.get('ticker');
    const span = secondsIn(query);
    if (span === undefined) return invalid('min_ts or max_ts');
    const trades = ticker === null ? reads.tradesOfAll() : reads.trades(ticker);
    const result = page(
      trades.filter(({ at }) => at >= span.from && at < span.to),
      query,
    );
    if (result === undefined) return invalid('limit or cursor');
    return { status: 200, body: { trades: result.items.map(tradeRecord), cursor: result.cursor } };
  }
}

/** From the start of the first second to the end of the last, in milliseconds. Undefined if either is invalid. */
function secondsIn(query: URLSearchParams): { readonly from: number; readonly to: number } | undefined {
  const [from, to] = [query.get('min_ts') ?? '0', query.get('max_ts') ?? '9999999999'];
  if (![from, to].every((text) => /^\d{1,12}$/.test(text))) return undefined;
  return { from: Number(from) * SECOND_MS, to: (Number(to) + 1) * SECOND_MS };
}

const UNAUTHENTICATED = refused(401, 'authentication_error', 'key, timestamp or signature is wrong');

function exchangeStatus(isTrading: boolean): VenueAnswer {
  const one = { exchange_active: true, trading_active: isTrading, intra_exchange_transfers_active: true };
  const indexes = [0, 1].map((exchange_index) => ({
    exchange_index,
    description: `shard ${exchange_index}`,
    ...one,
  }));
  return { status: 200, body: { ...one, exchange_index_statuses: indexes } };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function decoded(groups: Params): Params {
  return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, plainText(text)]));
}
