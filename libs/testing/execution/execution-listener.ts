import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import type { ApiCaller, CallerOutcome, CredentialRefusal } from '#libs/identity/api-keys/authenticate.js';
import { presentedIn } from '#libs/identity/api-keys/presented.js';
import type { AccessState } from '#libs/identity/api-keys/api-key-watch.js';
import { LinkClient } from '#libs/link/link-client.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { LinkServer } from '#libs/link/link-server.js';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '../eventually.js';
import type { CellRequest } from '#libs/execution/protocol/cell-protocol.js';
import type { ExecutorLinkRequest } from '#libs/execution/protocol/executor-protocol.js';
import { fromWire, toWire } from '#libs/execution/protocol/wire.js';
import { emptyHoldings } from '#libs/execution/rules/holdings.js';
import { ONE } from '#libs/execution/rules/micros.js';
import type { VenueMarket } from '#libs/execution/rules/markets.js';
import type { VenueMarkets } from '#libs/execution/venues/port.js';
import { VenueUnavailable } from '#libs/execution/venues/port.js';
import type { CallerGate } from '#libs/execution/api/caller.js';
import { Cells } from '#libs/execution/api/cells.js';
import { executionDialect } from '#libs/execution/api/dialect.js';
import { ExchangesController } from '#libs/execution/api/exchanges/exchanges.controller.js';
import { ExecutionParts } from '#libs/execution/api/execution-parts.js';
import { ExecutorClient } from '#libs/execution/api/executor-client.js';
import { ExecutionHealthController } from '#libs/execution/api/health.controller.js';
import { OrdersController } from '#libs/execution/api/orders/orders.controller.js';
import { ExposureController } from '#libs/execution/api/positions/exposure.controller.js';
import { ProceduresController } from '#libs/execution/api/rpc/procedures.controller.js';
import { Venues } from '#libs/execution/api/venues.js';

const TOKEN = 'a-service-token';
const clock = new SystemClock();

export type AskedOfService = CellRequest | ExecutorLinkRequest;

const MARKET: VenueMarket = {
  ...{ exchange_id: 'venue_b', market_id: 'RAIN-1', title: 'Rain', status: 'open', neg_risk: false },
  outcomes: [
    { index: 0, outcome: 'Yes' },
    { index: 1, outcome: 'No' },
  ],
  ...{ tick_size: 10_000n, min_size: 10_000n, shard: 0, closes_at: '2030-01-01T00:00:00Z' },
};

/** One market at venue b. For `DOWN` the venue is unavailable. */
const markets: VenueMarkets = {
  market: (id) =>
    id === 'DOWN'
      ? Promise.reject(new VenueUnavailable('it is down'))
      : Promise.resolve(id === MARKET.market_id ? MARKET : undefined),
  list: () => Promise.resolve([MARKET]),
  best: () => Promise.resolve({ bid: 390_000n, ask: 410_000n }),
  status: () => Promise.resolve({ exchange_active: true, trading_active: true }),
};

/** The token of a caller names its kind: `session`, `operator`, or a key by its scopes. */
class NamedCallers implements CallerGate {
  authenticate(parts: Parameters<CallerGate['authenticate']>[0]): CallerOutcome {
    const presented = presentedIn(parts);
    if (presented.kind === 'nothing') return refused(401, 'Authentication required');
    if (presented.kind === 'parts') return refused(401, 'A part is missing');
    if (presented.kind === 'token') {
      const { token } = presented;
      const isKnown = token === 'session' || token === 'operator';
      return isKnown ? admitted(session(token === 'operator')) : refused(401, 'Bad token');
    }
    if (presented.api_key === undefined || presented.api_secret === undefined) {
      return refused(401, 'A part is missing');
    }
    return presented.api_secret === 'right'
      ? admitted(key(presented.api_key.split(',')))
      : refused(parts.wrongTriple, 'Wrong triple');
  }
}

function session(isOperator: boolean): ApiCaller {
  const roles = new Set(isOperator ? ['OPERATOR'] : ['TRADER']);
  return { user_id: 'user-1', auth_method: 'session', roles, scopes: [] };
}

function key(scopes: readonly string[]): ApiCaller {
  const roles = new Set(['TRADER']);
  return { user_id: 'user-1', auth_method: 'api_key', roles, scopes, client_id: 'key-1' };
}

function admitted(caller: ApiCaller): CallerOutcome {
  return { ok: true, caller, recheck: () => caller };
}

function refused(status: CredentialRefusal['status'], error: string): CallerOutcome {
  return { ok: false, refusal: { status, error } };
}

/** The interface of orders on a real port, with a cell and an executor that reply over real links as the test sets. */
export class ExecutionListener {
  readonly asked: AskedOfService[] = [];
  readonly faults: unknown[] = [];
  answer: (request: AskedOfService) => LinkReply | Promise<LinkReply> = () => ({ status: 200, body: '{}' });
  access: AccessState = 'enabled';
  private port = 0;
  private readonly server = createServer();
  private readonly links: { close(): void }[] = [];
  private readonly listener: EdgeListener;

  private constructor() {
    this.listener = new EdgeListener({
      dialect: executionDialect(new NamedCallers()),
      authenticator: { authenticate: () => 'unauthorized' },
      clock,
      newRequestId: randomUUID,
      onFault: (error) => this.faults.push(error),
    });
  }

  static async open(): Promise<ExecutionListener> {
    const opened = new ExecutionListener();
    await opened.start();
    return opened;
  }

  private async start(): Promise<void> {
    const parts = await this.parts();
    this.listener.mount([
      new ExecutionHealthController(),
      ...[OrdersController, ExchangesController, ExposureController, ProceduresController].map(
        (controller) => new controller(parts),
      ),
    ]);
    this.listener.server.listen(0, '127.0.0.1');
    await once(this.listener.server, 'listening');
    this.port = portOf(this.listener.server);
  }

  private async parts(): Promise<ExecutionParts> {
    new LinkServer<AskedOfService>({
      ...{ serviceTokens: () => [TOKEN], read: fromWire, clock },
      handle: async (request) => {
        this.asked.push(request);
        return this.answer(request);
      },
      onFault: (error) => this.faults.push(error),
    }).attach(this.server);
    await listen(this.server, 0, '127.0.0.1');
    const options = {
      url: `http://127.0.0.1:${portOf(this.server)}`,
      ...{ serviceToken: () => TOKEN, peer: 'execution-test', clock, write: toWire, timeoutMillis: 500 },
    };
    const cell = new LinkClient<CellRequest>(options);
    const executor = new LinkClient<ExecutorLinkRequest>(options);
    this.links.push(cell, executor);
    await eventually(() => {
      if (!cell.connected || !executor.connected) throw new Error('not linked yet');
    });
    return new ExecutionParts({
      ...{ cells: new Cells([cell]), executor: new ExecutorClient(executor) },
      venues: new Venues(
        new Map([
          ['venue_b', markets],
          ['venue_e', markets],
        ]),
      ),
      ...{ clock, newId: randomUUID, minimum: ONE },
      access: { accessOf: () => this.access, set: () => Promise.resolve() },
      switches: {
        isHalted: () => Promise.resolve(false),
        list: () => Promise.resolve([]),
        set: () => Promise.resolve({}),
      },
      ...{ reads: NOTHING_READ, keys: NO_KEYS },
      operators: {
        act: () => Promise.reject(new Error('no book')),
        write: () => Promise.resolve(),
      },
    });
  }

  /** `as`: the scopes of a key, `session`, or `operator`. */
  ask(
    method: string,
    path: string,
    as: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const shown: Record<string, string> =
      as === 'session' || as === 'operator'
        ? { authorization: `Bearer ${as}` }
        : as === ''
          ? {}
          : { 'x-client-id': 'key-1', 'x-api-key': as, 'x-api-secret': 'right' };
    return fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...shown,
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
  }

  /** Forgets the requests and settings of the last test. */
  forget(): void {
    this.asked.length = 0;
    this.access = 'enabled';
  }

  async close(): Promise<void> {
    for (const link of this.links) link.close();
    this.server.closeAllConnections();
    this.server.close();
    this.listener.server.closeAllConnections();
    await this.listener.close();
  }
}

const NOTHING_READ = {
  orders: {
    list: () => Promise.resolve({ orders: [], has_more: false }),
    find: () => Promise.resolve(undefined),
  },
  fills: { page: () => Promise.resolve({ fills: [] }), ofOrder: () => Promise.resolve([]) },
  events: { timeline: () => Promise.resolve(undefined) },
  ledger: {
    entries: () => Promise.resolve({ entries: [] }),
    balances: () => Promise.resolve([]),
    reserves: () => Promise.resolve([]),
  },
  exposure: { of: () => Promise.resolve({ holdings: emptyHoldings, orders: [] }) },
};

const NO_KEYS = { grant: () => Promise.resolve(undefined), revokeAny: () => Promise.resolve(false) };

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return address.port;
}
