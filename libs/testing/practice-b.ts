import { constants, randomUUID, sign } from 'node:crypto';
import { copyFile, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Configuration, ExchangeApi, MarketApi, OrdersApi, PortfolioApi } from 'kalshi-typescript';
import { openAdminServer, type AdminServer } from '#libs/practice/admin/admin-server.js';
import { AdminSurface } from '#libs/practice/admin/admin-surface.js';
import { openVenue, type OpenVenue } from '#libs/practice/open-venue.js';
import { VENUE_KINDS } from '#libs/practice/venues/venue-kinds.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';

type Axios = NonNullable<ConstructorParameters<typeof OrdersApi>[2]>;
interface AxiosModule {
  readonly default: { create(options: { readonly validateStatus: () => boolean }): Axios };
}

/** The client signs through its transport, so each account needs a transport of its own. */
const clientRequire = createRequire(createRequire(import.meta.url).resolve('kalshi-typescript'));
const { default: transport } = clientRequire('axios') as AxiosModule;

export interface BKeys {
  readonly account: string;
  readonly key_id: string;
  readonly private_key_pem: string;
}

/** The published client of the venue, signing for one account. Refusals are replies, not exceptions. */
export interface BClient {
  readonly account: string;
  readonly keys: BKeys;
  readonly orders: OrdersApi;
  readonly portfolio: PortfolioApi;
  readonly markets: MarketApi;
  readonly exchange: ExchangeApi;
}

export function clientOfB(port: number, keys: BKeys): BClient {
  const basePath = `http://127.0.0.1:${port}/trade-api/v2`;
  const config = new Configuration({
    ...{ basePath, apiKey: keys.key_id, privateKeyPem: keys.private_key_pem },
  });
  const options = [config, basePath] as const;
  const axios = (): Axios => transport.create({ validateStatus: () => true });
  return {
    ...{ account: keys.account, keys },
    orders: new OrdersApi(...options, axios()),
    portfolio: new PortfolioApi(...options, axios()),
    markets: new MarketApi(...options, axios()),
    exchange: new ExchangeApi(...options, axios()),
  };
}

export interface PracticeB {
  readonly open: OpenVenue;
  readonly admin: AdminServer;
  /** The reply of the admin surface. */
  call(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: unknown }>;
  account(dollars?: string): Promise<BClient>;
  market(more?: object): Promise<string>;
  /** Another instance of the venue, restarted from a copy of its files, while the first one goes on. */
  restarted(): Promise<PracticeB>;
  close(): Promise<void>;
}

export async function openPracticeB(folder?: string): Promise<PracticeB> {
  const kind = VENUE_KINDS.venue_b;
  const data = folder ?? (await mkdtemp(path.join(tmpdir(), 'sotto-practice-')));
  const fail = (error: unknown): never => {
    throw error;
  };
  const open = await openVenue({
    ...{ exchange_id: 'venue_b', kind, port: 0, folder: data, seed: 1, isStill: true },
    ...{ clock: new SystemClock(), newId: randomUUID, onLost: fail, onFault: fail },
  });
  const admin = await openAdminServer(new AdminSurface([open]), 0, fail);
  return served(open, admin, data);
}

function served(open: OpenVenue, admin: AdminServer, folder: string): PracticeB {
  const call: PracticeB['call'] = async (method, at, body) => {
    const reply = await fetch(`http://127.0.0.1:${admin.port}${at}`, {
      ...{ method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    });
    const text = await reply.text();
    return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    ...{ open, admin, call },
    account: async (dollars = '1000') => {
      const { body } = await call('POST', '/accounts', { exchange_id: 'venue_b' });
      const keys = body as BKeys;
      if (dollars !== '0')
        await call('POST', '/faucet', { exchange_id: 'venue_b', account: keys.account, amount: dollars });
      return clientOfB(open.port, keys);
    },
    market: async (more = {}) => {
      const { body } = await call('POST', '/markets', { exchange_id: 'venue_b', ...more });
      return (body as { readonly market_id: string }).market_id;
    },
    restarted: async () => {
      const copy = await mkdtemp(path.join(tmpdir(), 'sotto-practice-'));
      await copyFile(path.join(folder, 'venue_b.log'), path.join(copy, 'venue_b.log'));
      return openPracticeB(copy);
    },
    close: async () => {
      await admin.close();
      await open.close();
    },
  };
}

/** Headers signed like the client's, for calls that the client does not have. */
export function signedHeaders(
  { key_id, private_key_pem }: BKeys,
  method: string,
  at: string,
): Record<string, string> {
  const timestamp = String(Date.now());
  const signature = sign('sha256', Buffer.from(`${timestamp}${method}${at}`), {
    key: private_key_pem,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  });
  return {
    'KALSHI-ACCESS-KEY': key_id,
    'KALSHI-ACCESS-TIMESTAMP': timestamp,
    'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
  };
}
