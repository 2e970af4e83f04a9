import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { executionDocument } from '#libs/execution/api/documents/http-document.js';
import { executionSpecs } from '#libs/execution/api/documents/interface.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { rawAnswer } from '../raw-exchange.js';
import { samplesOf, type SampledOperation } from './interface-samples.js';
import { InterfaceWalk, type WalkCall, type WalkAnswer } from './interface-walk.js';
import { namesOf, OrdersFloor, type VenueMarketJson } from './orders-floor.js';

jest.setTimeout(120_000);

const document = executionDocument(executionSpecs());
const NOBODYS_KEY = 'sotto_ck_000000000000000000000000';

let cluster: OwnedCluster;
let floor: OrdersFloor;
let walk: InterfaceWalk;
let trading: Readonly<Record<string, string>>;
let session: Readonly<Record<string, string>>;
let confirmed: Readonly<Record<string, string>>;
let operator: Readonly<Record<string, string>>;
let marketB: VenueMarketJson;
let marketE: VenueMarketJson;
let userId: string;
let order: string;

/** A separate cluster: it has production limits, and processes are paused. */
beforeAll(async () => {
  cluster = await startCluster({ env: { SERVICES: 'execution', PRACTICE_STILL: '1' } });
  floor = new OrdersFloor(cluster);
  walk = new InterfaceWalk(floor.url, document);
  trading = tripleOf('trader-1', 'wildcard');
  ({ userId } = floor.trader('trader-1'));
  session = { authorization: `Bearer ${await logIn('trader-1')}` };
  confirmed = { ...session, 'x-reauth': password() };
  operator = { authorization: `Bearer ${await logIn('operator-1')}` };
  [marketB, marketE] = [await floor.market('venue_b'), await floor.market('venue_e')];
}, 120_000);
afterAll(() => cluster.stop());

function password(): string {
  return cluster.file.demo.password;
}

function tripleOf(name: string, key: string): Readonly<Record<string, string>> {
  const user = cluster.file.demo.users.find(({ email }) => email.startsWith(`${name}@`));
  const found = user?.api_keys?.find((each) => each.name === key);
  if (found === undefined) throw new Error(`${name} has no key ${key}`);
  const { client_id, api_key, api_secret } = found;
  return { 'x-client-id': client_id, 'x-api-key': api_key, 'x-api-secret': api_secret };
}

async function logIn(name: string): Promise<string> {
  const response = await fetch(`${cluster.gatewayUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${name}@demo.sotto`, password: password() }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Calls once the rate limit allows it. */
function ask(asked: WalkCall): Promise<WalkAnswer> {
  return eventually(async () => {
    const told = await walk.ask({ headers: trading, ...asked });
    if (told.status === 429) throw new Error('too many at once');
    return told;
  });
}

async function gives(status: number, asked: WalkCall): Promise<WalkAnswer['body']> {
  const told = await ask(asked);
  expect([asked.method, asked.path, told.status, told.text]).toEqual([
    ...[asked.method, asked.path, status, told.text],
  ]);
  return told.body;
}

const get = (path: string, headers = trading): WalkCall => ({ method: 'GET', path, headers });
const post = (path: string, body: object | string = {}, headers = trading): WalkCall => ({
  ...{ method: 'POST', path, body, headers },
});
const rpc = (name: string, input: object = {}, headers = trading): WalkCall =>
  post(`/rpc/${name}`, { input }, headers);
const rpcRead = (name: string, input: object = {}, headers = trading): WalkCall =>
  get(`/rpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`, headers);

function buy(more: object = {}): Record<string, unknown> {
  return {
    ...{ ...namesOf('venue_b', marketB, 0), side: 'buy', kind: 'limit', quantity: 20, price: 0.4 },
    ...{ client_order_id: randomUUID(), ...more },
  };
}

async function placed(more: object = {}): Promise<string> {
  const { order_id: id } = await gives(200, post('/orders', buy(more)));
  await eventually(async () => {
    expect(await gives(200, get(`/orders/${String(id)}`))).toMatchObject({ status: 'open' });
  });
  return String(id);
}

function samples(): readonly SampledOperation[] {
  return samplesOf(document, { order_id: order, client_id: NOBODYS_KEY });
}

/** Every operation at once, in a way that must be refused before it has any effect. */
function refusedEverywhere(
  statuses: readonly number[],
  asked: (sample: SampledOperation) => Partial<WalkCall>,
  wanted: (sample: SampledOperation) => boolean = ({ isPublic }) => !isPublic,
): Promise<unknown> {
  return Promise.all(
    samples()
      .filter(wanted)
      .map(async (sample) => {
        const { operationId, method, path } = sample;
        const { status, text } = await walk.ask({
          ...{ method, path, headers: session },
          ...(sample.takesBody ? { body: {} } : {}),
          ...asked(sample),
        });
        expect([operationId, statuses.includes(status), text]).toEqual([operationId, true, text]);
      }),
  );
}

describe('what works', () => {
  it('orders, from the first to the last', async () => {
    order = await placed();
    await gives(
      200,
      post('/orders', buy({ exchange_id: 'venue_b_offchain', max_slippage: 0.1, price: 0.3 })),
    );
    await gives(200, post(`/orders/${order}/amend`, { price: 0.41 }));
    await gives(200, get(`/orders/${order}/fills`));
    await gives(200, get(`/orders/${order}/events?limit=10`));
    await gives(200, get('/orders?status=active&limit=5'));
    await gives(200, post('/orders/cancel-after', { timeout_ms: 60_000, exchange_id: 'venue_b' }));
    await gives(200, post('/orders/cancel-after', { timeout_ms: 0 }));
    await gives(200, post(`/orders/${order}/cancel`, { reason: 'enough' }));
    const named = buy({ price: 0.3 });
    await gives(200, post('/orders', named));
    await gives(200, post('/orders', named));
    const { exchange_id, market_id, client_order_id } = named;
    await gives(200, post('/orders/cancel-by-client-id', { exchange_id, market_id, client_order_id }));
    await gives(200, post('/orders/cancel-all', { exchange_id: 'venue_b' }));
    const query = `market_id=${marketB.market_id}&outcome=Yes&side=buy&kind=limit&quantity=10&price=0.4`;
    await gives(200, get(`/orders/fee-quote?exchange_id=venue_b&${query}`));
  });

  it('trades and their results', async () => {
    const maker = floor.trader('trader-2');
    const names = namesOf('venue_e', marketE, 0);
    const other = namesOf('venue_e', marketE, 1);
    await maker.place({ ...other, side: 'buy', kind: 'limit', quantity: 20, price: 0.6 }, 'open');
    const taken = { ...names, side: 'buy', kind: 'market', quantity: 20, price: 0.4 };
    const { order_id: id } = await gives(200, post('/orders', { ...taken, client_order_id: randomUUID() }));
    await eventually(async () => {
      expect(await gives(200, get(`/orders/${String(id)}`))).toMatchObject({ status: 'filled' });
    });
    const unfilled = { ...taken, time_in_force: 'FOK', quantity: 1_000, client_order_id: randomUUID() };
    await gives(200, post('/orders', unfilled));
    expect(await gives(200, get(`/orders/${String(id)}/fills`))).toHaveProperty('fills.0.fill_id');
    await gives(200, get(`/orders/${String(id)}/events`));
    await eventually(async () => {
      const { positions } = await gives(200, get('/positions/exposure'));
      expect(positions).not.toEqual([]);
    });
    for (const read of [rpc, rpcRead]) {
      await eventually(async () => {
        expect(await gives(200, read('orders.fills', { limit: 5 }))).toHaveProperty('result.fills.0');
      });
      await gives(200, read('ledger.entries', { limit: 20 }));
    }
    await gives(200, rpc('orders.reconcile', { orderId: id }));
    // Found at once, even if the lists lag.
    const { order_id: newest } = await gives(
      200,
      post('/orders', { ...unfilled, client_order_id: randomUUID() }),
    );
    await gives(200, rpc('admin.orders.reconcile', { orderId: newest, reason: 'x' }, operator));
  });

  it('venues, markets and money', async () => {
    for (const path of ['', '/venue_b', '/venue_b/capabilities', '/venue_b/trading-status']) {
      await gives(200, get(`/exchanges${path}`));
    }
    await gives(200, get('/health', {}));
    const agreed = { residency: true, age: true, terms: true };
    const terms = { terms_version: '2026-11', attestations: agreed };
    await gives(200, post('/exchanges/venue_b/enable-trading', terms));
    await gives(200, rpc('venues.link', { exchangeId: 'venue_e' }, session));
    const transfer = { exchangeId: 'venue_b', asset: 'USD', amount: '1', from: 'kalshi_usd', to: 'vault' };
    await gives(200, rpc('funds.transfer', transfer, session));
    for (const read of [rpc, rpcRead]) {
      await gives(200, read('balances.getAllBalances'));
      await gives(200, read('balances.getVaultBalances'));
      await gives(200, read('balances.getWalletBalances', { walletAddress: '0x1' }));
      await gives(200, read('markets.get', { exchangeId: 'venue_b', marketId: marketB.market_id }));
      await gives(200, read('markets.list', { exchangeId: 'venue_e', limit: 2 }));
      await gives(200, read('funds.transfers', {}, session));
      await gives(200, read('admin.switches.list', {}, operator));
      await gives(200, read('admin.reconciliation.report', {}, operator));
      await gives(200, read('admin.reserves.report', {}, operator));
      await gives(200, read('admin.signer.status', {}, operator));
    }
  });

  it('what operators change', async () => {
    const reason = 'a walk';
    const place = { exchangeId: 'venue_e', side: 'sell', kind: 'market', timeInForce: 'FOK' };
    await gives(200, rpc('admin.switches.set', { ...place, mode: 'cancel_only', reason }, operator));
    await gives(200, get('/exchanges/venue_e/trading-status'));
    await gives(200, rpcRead('admin.switches.list', {}, operator));
    await gives(200, rpc('admin.switches.set', { ...place, mode: 'on', reason }, operator));
    await gives(200, rpc('admin.breakers.reset', { ...place, reason }, operator));
    await gives(200, rpc('admin.apiAccess.set', { exchangeId: 'venue_e', enabled: true, reason }, operator));
    const { result } = await gives(
      200,
      rpc('admin.keys.grant', { userId, name: 'x', scopes: ['read'] }, operator),
    );
    const { clientId } = result as { clientId: string };
    await gives(200, rpc('admin.keys.revoke', { clientId, reason }, operator));
  });

  it('accounts and their keys', async () => {
    await gives(200, get('/account/scopes'));
    await gives(200, get('/account/scopes', session));
    await gives(200, get('/account/limits'));
    const made = await gives(201, post('/account/api-keys', { name: 'walk', preset: 'readonly' }, confirmed));
    const path = `/account/api-keys/${String(made.client_id)}`;
    await gives(200, get('/account/api-keys', confirmed));
    const body = { name: 'walked', expires_at: '2031-01-01T00:00:00Z', orders_per_minute: 10 };
    await gives(200, { method: 'PATCH', path, body, headers: confirmed });
    await gives(200, post(`${path}/rotate`, { overlap_seconds: 1 }, confirmed));
    await gives(204, { method: 'DELETE', path, headers: confirmed });
  });
});

describe('refused requests', () => {
  it('without credentials, by every operation', () => refusedEverywhere([401], () => ({ headers: {} })));

  it('with a key that may not be used from this address, by every operation', async () => {
    const terms = { name: 'elsewhere', preset: 'trading', ip_allow_list: ['192.0.2.1'] };
    const made = await gives(201, post('/account/api-keys', terms, confirmed));
    const headers = {
      'x-client-id': String(made.client_id),
      'x-api-key': String(made.api_key),
      'x-api-secret': String(made.api_secret),
    };
    await refusedEverywhere([403], () => ({ headers }));
    await gives(403, get('/nothing', headers));
    const told = await walk.ask(get('/orders', tripleOf('trader-1', 'bare')));
    expect([told.status, told.body.code]).toEqual([403, 'InsufficientScope']);
  });

  it('with invalid JSON or unknown parameters, by every operation', async () => {
    await refusedEverywhere(
      [400, 404],
      ({ takesBody, operationId, path }) => {
        const headers = operationId.startsWith('admin.') ? operator : session;
        if (takesBody) return { headers, body: '{' };
        return { headers, path: `${path}?${path.startsWith('/rpc/') ? 'input=[]' : 'zzz=1'}` };
      },
      ({ takesBody, path }) => takesBody || path.startsWith('/rpc/') || path.startsWith('/orders'),
    );
    await gives(400, get('/positions/exposure?zzz=1'));
    await gives(400, { method: 'DELETE', path: '/account/api-keys/zzz', headers: confirmed });
    const types = { ...trading, 'content-type': 'text/plain' };
    await gives(415, { method: 'POST', path: '/orders', body: 'x', headers: types });
    await gives(413, post('/orders', ' '.repeat(262_145)));
  });

  it('for unknown objects', async () => {
    await gives(404, get('/nothing'));
    await gives(405, { method: 'DELETE', path: '/orders' });
    const unknown = `${order.slice(0, -4)}0000`;
    for (const path of ['', '/fills', '/events']) await gives(404, get(`/orders/${unknown}${path}`));
    await gives(404, post(`/orders/${unknown}/cancel`));
    await gives(404, post(`/orders/${unknown}/amend`, { price: 0.4 }));
    const names = { exchange_id: 'venue_b', market_id: marketB.market_id };
    await gives(404, post('/orders/cancel-by-client-id', { ...names, client_order_id: 'none' }));
    await gives(404, post('/orders', buy({ market_id: 'NO-SUCH' })));
    const query = 'market_id=NO-SUCH&outcome=Yes&side=buy&kind=limit&quantity=10&price=0.4';
    await gives(404, get(`/orders/fee-quote?exchange_id=venue_b&${query}`));
    for (const path of ['', '/capabilities', '/trading-status'])
      await gives(404, get(`/exchanges/venue_z${path}`));
    await gives(404, post('/exchanges/venue_z/enable-trading'));
    await gives(404, post('/exchanges/venue_b/allowances'));
    const chain = [
      '/exchanges/venue_b/ctf/split',
      '/exchanges/venue_b/ctf/merge',
      '/exchanges/venue_b/redeem',
    ];
    const combos = ['quote', 'execute', 'cash-out-quote', 'cash-out', 'redeem'].map(
      (each) => `/combo/${each}`,
    );
    for (const path of [...chain, ...combos]) await gives(404, post(path));
    await gives(404, get('/combo/positions'));
    for (const read of [rpc, rpcRead]) {
      await gives(404, read('no.such.procedure'));
      await gives(404, read('markets.get', { exchangeId: 'venue_b', marketId: 'NO-SUCH' }));
    }
    await gives(404, rpc('orders.reconcile', { orderId: unknown }));
    await gives(404, rpc('admin.orders.reconcile', { orderId: unknown, reason: 'x' }, operator));
    const path = `/account/api-keys/${NOBODYS_KEY}`;
    await gives(404, { method: 'PATCH', path, body: {}, headers: confirmed });
    await gives(404, { method: 'DELETE', path, headers: confirmed });
    await gives(404, post(`${path}/rotate`, { overlap_seconds: 0 }, confirmed));
  });

  it('in the wrong state', async () => {
    const past = { not_after: '2020-01-01T00:00:00Z' };
    await gives(409, post('/orders', buy(past)));
    await gives(409, post('/orders', buy({ side: 'sell' })));
    await gives(409, post(`/orders/${order}/cancel`, past));
    const named = { exchange_id: 'venue_b', market_id: marketB.market_id, client_order_id: 'x', ...past };
    await gives(409, post('/orders/cancel-by-client-id', named));
    await gives(409, post('/orders/cancel-all', { exchange_id: 'venue_e' }));
    await gives(409, post('/orders/batch', { exchange_id: 'venue_b', orders: [] }));
    await gives(409, post(`/orders/${order}/amend`, { quantity: 1 }));
    await gives(409, get('/orders/fee-quote?exchange_id=venue_e'));
    const much = {
      exchangeId: 'venue_b',
      asset: 'USD',
      amount: '999999999',
      from: 'kalshi_usd',
      to: 'vault',
    };
    await gives(409, rpc('funds.transfer', much, session));
    const full = await eventually(async () => {
      const told = await ask(post('/account/api-keys', { name: 'one more', preset: 'readonly' }, confirmed));
      if (told.status === 201) throw new Error('there is room for another key');
      return told;
    }, 30_000);
    expect([full.status, full.body.code]).toEqual([409, 'ApiKeyLimit']);
  });

  it('too many calls, and all of an address that guesses keys', async () => {
    const bursts = await Promise.all(Array.from({ length: 60 }, () => walk.ask(rpcRead('markets.get'))));
    expect(bursts.map(({ status }) => status)).toContain(400);
    const orders = await Promise.all(Array.from({ length: 12 }, () => walk.ask(post('/orders', buy()))));
    expect(orders.map(({ status }) => status)).toContain(429);
    const from = '127.0.7.9';
    const wrong = { ...trading, 'x-api-secret': '0'.repeat(64) };
    for (let guess = 0; guess < 11; guess += 1) await walk.ask({ ...get('/orders', wrong), from });
    await refusedEverywhere([429], () => ({ from }));
    expect((await walk.ask({ ...get('/nothing'), from })).status).toBe(429);
  });

  it('bytes that are hardly HTTP', async () => {
    const key = Object.entries(trading)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\r\n');
    const raw = async (head: string, rest = ''): Promise<void> => {
      const sent = `${head}\r\nConnection: close\r\n${rest}\r\n`;
      const received = await rawAnswer(floor.url, sent);
      walk.observe(observedIn(sent, received));
    };
    await raw(
      `GET /exchanges HTTP/1.1\r\nHost: x\r\n${key}\r\nContent-Type: application/json\r\nContent-Length: 1`,
      '\r\n{',
    );
    await raw('GET /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked', '\r\n0\r\n');
    await raw(
      `GET /health HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 300 }, (_, at) => `x-${at}: y`).join('\r\n')}`,
    );
  });
});

function observedIn(sent: string, received: string): Parameters<InterfaceWalk['observe']>[0] {
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = fields.map((field): [string, string] => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
  });
  const [, method = '', path = ''] = /^([A-Z]+) (\S+) HTTP/.exec(sent) ?? [];
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0);
  return { method, path, requestHeaders: {}, status, headers: Object.fromEntries(headers), body };
}

describe('what cannot be answered for a while', () => {
  async function without(processes: readonly string[], work: () => Promise<unknown>): Promise<void> {
    for (const name of processes) cluster.kill(name, 'SIGSTOP');
    try {
      await work();
    } finally {
      for (const name of processes) cluster.kill(name, 'SIGCONT');
    }
  }

  async function all503(asked: readonly WalkCall[]): Promise<void> {
    const told = await Promise.all(asked.map((each) => walk.ask(each)));
    expect(told.map(({ status }, at) => [asked[at]?.path, status])).toEqual(
      asked.map(({ path }) => [path, 503]),
    );
  }

  it('while the cells are paused', () =>
    without(['cell-0', 'cell-1'], async () => {
      const unknown = `${order.slice(0, -4)}0000`;
      const names = { exchange_id: 'venue_b', market_id: marketB.market_id, client_order_id: 'x' };
      const money = { exchangeId: 'venue_b', asset: 'USD', amount: '1', from: 'kalshi_usd', to: 'vault' };
      await all503([
        ...[
          post('/orders', buy()),
          post(`/orders/${order}/cancel`),
          post(`/orders/${order}/amend`, { price: 0.4 }),
        ],
        ...['', '/fills', '/events'].map((path) => get(`/orders/${unknown}${path}`)),
        ...[
          post('/orders/cancel-by-client-id', names),
          post('/orders/cancel-all', { exchange_id: 'venue_b' }),
        ],
        ...[post('/orders/cancel-after', { timeout_ms: 5_000 }), get('/exchanges/venue_b/trading-status')],
        ...[get('/account/limits'), get('/account/scopes', tripleOf('trader-3', 'trading'))],
        rpc('orders.reconcile', { orderId: order }),
        rpc('admin.orders.reconcile', { orderId: order, reason: 'x' }, operator),
        ...[rpc, rpcRead].flatMap((read) => [
          read('funds.transfers', {}, session),
          read('admin.reconciliation.report', {}, operator),
        ]),
        rpc('funds.transfer', money, session),
      ]);
    }));

  it('while the executor is paused', () =>
    without(['executor'], async () => {
      const agreed = { residency: true, age: true, terms: true };
      await all503([
        post('/exchanges/venue_b/enable-trading', { terms_version: '2026-11', attestations: agreed }),
        rpc('venues.link', { exchangeId: 'venue_e' }, session),
        rpc('admin.breakers.reset', { exchangeId: 'venue_b', reason: 'x' }, operator),
        ...[rpc, rpcRead].flatMap((read) => [
          read('admin.reserves.report', {}, operator),
          read('admin.signer.status', {}, operator),
        ]),
      ]);
      expect(await gives(200, rpc('balances.getAllBalances'))).toMatchObject({ result: { degraded: true } });
    }));

  it('while the venues are paused', () =>
    without(['practice'], async () => {
      const query = 'market_id=NOT-ASKED&outcome=Yes&side=buy&kind=limit&quantity=10&price=0.4';
      await all503([
        get(`/orders/fee-quote?exchange_id=venue_b&${query}`),
        ...[rpc, rpcRead].flatMap((read) => [
          read('markets.get', { exchangeId: 'venue_b', marketId: 'NOT-ASKED' }),
          read('markets.list', { exchangeId: 'venue_b' }),
        ]),
      ]);
    }));

  it('whether keys may be used', async () => {
    const set = (enabled: boolean | null): WalkCall =>
      rpc('admin.apiAccess.set', { exchangeId: 'venue_b', enabled, reason: 'a walk' }, operator);
    await gives(200, set(null));
    await gives(503, post('/orders/batch', { exchange_id: 'venue_b', orders: [] }));
    await gives(200, set(false));
    await gives(403, post('/orders', buy()));
    await gives(200, set(true));
  });
});

describe('the document', () => {
  it('has every answer that was seen, with its headers and fields', () => {
    expect([...walk.faults]).toEqual([]);
  });

  it('has no status that was not seen', () => {
    expect(walk.unseen.filter((part) => !UNSEEN.has(part))).toEqual([]);
    expect([...UNSEEN.keys()].filter((part) => !walk.unseen.includes(part))).toEqual([]);
  });
});

const UNSEEN: ReadonlyMap<string, string> = new Map([
  ['any 408', 'The edge is the same as that of the auctions, where this is tested.'],
  ['any 500', 'It would be an error of the service.'],
  ['any 503', 'It takes a database outage.'],
  ['enableTrading 202', 'Practice venues open accounts at once.'],
]);
