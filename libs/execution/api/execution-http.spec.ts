import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { toWire } from '../protocol/wire.js';
import { ExecutionListener, type AskedOfService } from '#libs/testing/execution/execution-listener.js';

let service: ExecutionListener;
const ORDER = '0b000000-0000-8000-8000-000000000001';
const ON_E = '0e000000-0000-8000-8000-000000000001';
const BODY =
  '"exchange_id":"venue_b","market_id":"RAIN-1","side":"buy","kind":"limit","quantity":20,"price":0.4,"outcome":"Yes"';
const SUBMIT = `{${BODY}}`;
const SLOTS = { limit: 'orders', max: 5, remaining: 4, resets_at: '2026-11-28T12:00:00.400000000Z' };
const ACCEPTED = { order_id: ORDER, status: 'queued', funding: null, is_replay: false, is_mismatch: false };

function slotsOr(answer: object, status = 200) {
  return (request: AskedOfService) =>
    request.op === 'take_slot'
      ? { status: 200, body: toWire({ slots: SLOTS }) }
      : { status, body: toWire(answer) };
}

beforeAll(async () => {
  service = await ExecutionListener.open();
});
afterAll(() => service.close());

beforeEach(() => {
  service.forget();
});
afterEach(() => {
  expect(service.faults).toEqual([]);
});

async function summaryOf(response: Response): Promise<string> {
  const text = await response.text();
  if (text === '') return `${response.status}`;
  const code = /"error_details":\{"code":"([A-Z_]+)"/.exec(text)?.[1];
  const kind = response.headers.get('content-type') ?? '';
  return `${response.status} ${code ?? (kind.startsWith('text/plain') ? 'text' : /^\{"error":"[^"]*"\}$/.test(text) ? 'error' : 'body')}`;
}

type Row = readonly [title: string, ask: Parameters<ExecutionListener['ask']>, expected: string];
const ALL = '*';

const CHECKS: readonly Row[] = [
  ['health without credentials', ['GET', '/health', ''], '200 body'],
  ['an unknown path without credentials', ['GET', '/nothing', ''], '401 error'],
  ['an unknown path', ['GET', '/nothing', 'session'], '404 error'],
  ['a method that the path does not have', ['DELETE', '/orders', 'session'], '405 error'],
  ['a partial triple', ['POST', '/orders', '', SUBMIT, { 'x-client-id': 'a' }], '401 error'],
  ['a wrong triple on a mutation', ['POST', '/orders', '', SUBMIT, wrong()], '403 error'],
  ['a wrong triple on a read', ['GET', '/orders', '', undefined, wrong()], '401 error'],
  ['a wrong triple on the cash-out quote', ['POST', '/combo/cash-out-quote', '', '{}', wrong()], '403 error'],
  ['a wrong triple on RPC', ['POST', '/rpc/orders.reconcile', '', '{}', wrong()], '401 error'],
  ['a wrong triple on an unknown path', ['POST', '/nothing', '', '{}', wrong()], '401 error'],
  ['a session-only call with a key', ['POST', '/rpc/funds.transfers', ALL, '{}'], '403 error'],
  ['an operator call by a trader', ['POST', '/rpc/admin.switches.list', 'session', '{}'], '403 error'],
  ['a missing scope', ['POST', '/orders', 'trade:read', '{{'], '403 AUTH_INSUFFICIENT_SCOPE'],
  ['a missing scope on exposure', ['GET', '/positions/exposure', 'trade:read'], '403 error'],
  ['a missing scope on RPC', ['GET', '/rpc/ledger.entries', 'trade:read'], '403 error'],
  [
    'a wrong id, checked before the content type',
    ['POST', '/orders/x/cancel', ALL, 'x', plain()],
    '400 VALIDATION_INVALID_ID',
  ],
  ['a wrong content type', ['POST', '/orders', ALL, SUBMIT, plain()], '415 error'],
  ['a body that is too large', ['POST', '/orders', ALL, ' '.repeat(262_145)], '413 error'],
  ['a body that is not JSON', ['POST', '/orders', ALL, '{'], '400 VALIDATION_INVALID_PARAMETER'],
  ['an array as body', ['POST', '/orders', ALL, '[]'], '400 VALIDATION_INVALID_PARAMETER'],
  ['a repeated field', ['POST', '/orders', ALL, `{"side":"buy",${BODY}}`], '400 VALIDATION_UNKNOWN_FIELD'],
  [
    'an unknown field',
    ['POST', '/orders', ALL, `{"post_olny":true,${BODY}}`],
    '400 VALIDATION_UNKNOWN_FIELD',
  ],
  ['no body at all', ['POST', '/orders', ALL], '400 VALIDATION_INVALID_ORDER'],
  [
    'an unregistered venue',
    ['POST', '/orders', ALL, '{"exchange_id":"venue_a"}'],
    '400 VALIDATION_INVALID_ORDER',
  ],
  [
    'an unknown market',
    ['POST', '/orders', ALL, SUBMIT.replace('RAIN-1', 'SUN-1')],
    '404 VALIDATION_MARKET_NOT_FOUND',
  ],
  [
    'a venue that is down',
    ['POST', '/orders', ALL, SUBMIT.replace('RAIN-1', 'DOWN')],
    '503 EXCHANGE_UNAVAILABLE',
  ],
  ['an amend without a body', ['POST', `/orders/${ORDER}/amend`, ALL], '400 text'],
  ['an amend of an array', ['POST', `/orders/${ORDER}/amend`, ALL, '[]'], '400 text'],
  [
    'an amend of the quantity',
    ['POST', `/orders/${ORDER}/amend`, ALL, '{"quantity":1,"x":1}'],
    '409 EXCHANGE_AMEND_UNSUPPORTED',
  ],
  [
    'an amend on venue e',
    ['POST', `/orders/${ON_E}/amend`, ALL, '{"price":2}'],
    '409 EXCHANGE_AMEND_UNSUPPORTED',
  ],
  [
    'an order id that no order can have',
    ['GET', '/orders/00000000-0000-4000-8000-000000000000', ALL],
    '404 ORDER_NOT_FOUND',
  ],
  [
    'cancel-all on venue e',
    ['POST', '/orders/cancel-all', ALL, '{"exchange_id":"venue_e"}'],
    '409 EXCHANGE_CANCEL_ALL_UNSUPPORTED',
  ],
  ['a batch', ['POST', '/orders/batch', ALL, '{"exchange_id":"venue_b"}'], '409 EXCHANGE_BATCH_UNSUPPORTED'],
  [
    'a timer that is too short',
    ['POST', '/orders/cancel-after', ALL, '{"timeout_ms":4999}'],
    '400 VALIDATION_INVALID_PARAMETER',
  ],
  ['an unknown parameter of a list', ['GET', '/orders?limt=5', ALL], '400 VALIDATION_INVALID_PARAMETER'],
  ['a repeated parameter', ['GET', '/orders?limit=5&limit=5', ALL], '400 VALIDATION_INVALID_PARAMETER'],
  [
    'before_id together with offset',
    ['GET', `/orders?before_id=${ORDER}&offset=1`, ALL],
    '400 VALIDATION_INVALID_PARAMETER',
  ],
  ['several statuses', ['GET', '/orders?status=open&status=terminal', ALL], '200 body'],
  ['an unregistered exchange', ['GET', '/exchanges/venue_a', 'bare'], '404'],
  ['a venue id in another case', ['GET', '/exchanges/VENUE_B', 'bare'], '404'],
  ['allowances', ['POST', '/exchanges/venue_b/allowances', ALL, '{}'], '404'],
  ['split', ['POST', '/exchanges/venue_b/ctf/split', ALL, '{}'], '404 VALIDATION_MARKET_NOT_FOUND'],
  [
    'a fee quote on venue e',
    ['GET', '/orders/fee-quote?exchange_id=venue_e', ALL],
    '409 EXCHANGE_FEE_QUOTE_UNSUPPORTED',
  ],
  ['an unknown procedure', ['POST', '/rpc/nothing.at.all', 'session', '{}'], '404 RPC_PROCEDURE_NOT_FOUND'],
  [
    'an unknown procedure with an input',
    ['POST', '/rpc/nothing.at.all', ALL, '{"input":{}}'],
    '404 RPC_PROCEDURE_NOT_FOUND',
  ],
  [
    'an unknown procedure, checked before its body',
    ['POST', '/rpc/nothing.at.all', ALL, '{', plain()],
    '404 RPC_PROCEDURE_NOT_FOUND',
  ],
  [
    'an unknown procedure, checked before its method',
    ['DELETE', '/rpc/nothing.at.all', ALL],
    '404 RPC_PROCEDURE_NOT_FOUND',
  ],
  ['an unknown procedure without credentials', ['POST', '/rpc/nothing.at.all', '', '{}'], '401 error'],
  [
    'a reconciliation report for an unregistered venue',
    ['POST', '/rpc/admin.reconciliation.report', 'operator', '{"input":{"exchangeId":"venue_c"}}'],
    '400 VALIDATION_INVALID_PARAMETER',
  ],
  ['a mutation by GET', ['GET', '/rpc/orders.reconcile', 'session'], '405 error'],
  ['a wrong input', ['POST', '/rpc/markets.get', 'read', '{"input":{}}'], '400 VALIDATION_INVALID_PARAMETER'],
  [
    'outdated terms',
    ['POST', '/exchanges/venue_b/enable-trading', ALL, '{"terms_version":"1"}'],
    '400 VALIDATION_INVALID_PARAMETER',
  ],
];

function wrong(): Record<string, string> {
  return { 'x-client-id': 'a', 'x-api-key': 'b', 'x-api-secret': 'wrong' };
}

function plain(): Record<string, string> {
  return { 'content-type': 'text/plain' };
}

describe('a call that is answered without a cell', () => {
  it.each(CHECKS)('%s', async (_title, ask, expected) => {
    service.answer = slotsOr({});
    const response = await service.ask(...ask);
    expect(response.headers.get('x-api-version')).toBe('2026-11-01');
    expect(response.headers.get('x-request-id')).not.toBeNull();
    expect(await summaryOf(response)).toBe(expected);
    expect(service.asked.map(({ op }) => op).filter((op) => op !== 'take_slot')).toEqual([]);
  });
});

it('a submit passes on exact numbers and returns the rate limit headers', async () => {
  service.answer = slotsOr({ ...ACCEPTED, slots: SLOTS });
  const response = await service.ask('POST', '/orders', ALL, SUBMIT.replace('0.4', '4e-1'));
  expect(await response.json()).toEqual({ order_id: ORDER, status: 'queued', funding: null });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': '4',
    'x-ratelimit-reset': '1795867201',
  });
  expect(response.headers.get('deprecation')).toBeNull();
  expect(service.asked).toMatchObject([
    {
      op: 'submit',
      user_id: 'user-1',
      client_id: 'key-1',
      terms: { price: 400_000n, quantity: 20_000_000n },
    },
  ]);
});

it('a repeated submit with a deprecated alias has replay, mismatch and deprecation headers', async () => {
  service.answer = slotsOr({ ...ACCEPTED, is_replay: true, is_mismatch: true });
  const old = SUBMIT.replace('venue_b', 'Venue_B_offchain');
  const response = await service.ask('POST', '/orders', 'session', old);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    ...{ 'idempotent-replay': 'true', 'idempotent-mismatch': 'true', deprecation: '@1793491200' },
  });
});

it("a cell's refusal is returned in the envelope, with the classification of its code", async () => {
  const refusal = {
    code: 'RATE_LIMITED_ORDERS',
    message: 'Too many',
    retry_after: 0,
    slots: { ...SLOTS, remaining: 0 },
  };
  service.answer = slotsOr(refusal, 429);
  const response = await service.ask('POST', '/orders', ALL, SUBMIT);
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(await response.json()).toEqual({
    ...{ error: 'Too many', code: 'RateLimitedOrders' },
    error_details: { code: 'RATE_LIMITED_ORDERS', metadata: { classification: 'retryable' } },
  });
});

it('while the cell is silent, a submit gets 503 and exposure comes from the projection', async () => {
  service.answer = () => new Promise(() => undefined);
  expect(await summaryOf(await service.ask('POST', '/orders', ALL, SUBMIT))).toBe('503 CELL_UNAVAILABLE');
  const exposure = await service.ask('GET', '/positions/exposure', ALL);
  expect(await exposure.json()).toMatchObject({
    reservation_source: 'central',
    reservations_authoritative: false,
  });
});

describe('a venue that API keys may not use', () => {
  it.each([
    ['disabled', 'POST', '/orders', '{"exchange_id":"venue_b","x":1}', '403'],
    ['disabled', 'POST', `/orders/${ORDER}/cancel`, '{}', '403'],
    ['disabled', 'POST', '/orders/cancel-all', '{"exchange_id":"venue_b_OFFCHAIN"}', '403'],
    ['disabled', 'POST', `/orders/${ORDER}/amend`, '{}', '403 AUTH_INSUFFICIENT_SCOPE'],
    ['disabled', 'POST', '/exchanges/venue_b/enable-trading', '{}', '403 AUTH_INSUFFICIENT_SCOPE'],
    ['unknown', 'POST', '/orders', SUBMIT, '503 AUTH_ACCESS_UNVERIFIABLE'],
  ] as const)('%s: %s %s', async (access, method, path, body, expected) => {
    service.access = access;
    expect(await summaryOf(await service.ask(method, path, ALL, body))).toBe(expected);
    expect(service.asked).toEqual([]);
  });

  it('is open to sessions', async () => {
    service.access = 'disabled';
    service.answer = slotsOr(ACCEPTED);
    expect(await summaryOf(await service.ask('POST', '/orders', 'session', SUBMIT))).toBe('200 body');
  });
});

it('an amend with an invalid price is still sent to the cell, which checks the order first', async () => {
  service.answer = slotsOr({ success: true, exchange_order_id: 'x', price: 410_000n, quantity: 20_000_000n });
  const amended = await service.ask('POST', `/orders/${ORDER}/amend`, ALL, '{"price":0.41}');
  expect(await amended.json()).toEqual({ success: true, exchange_order_id: 'x', price: 0.41, quantity: 20 });
  await service.ask('POST', `/orders/${ORDER}/amend`, ALL, '{"price":"0.41"}');
  expect(service.asked).toMatchObject([{ price: 410_000n }, { price: -1n }]);
});

it('query procedures answer to GET and POST', async () => {
  service.answer = slotsOr({});
  const input = encodeURIComponent('{"exchangeId":"venue_b","marketId":"RAIN-1"}');
  const got = await service.ask('GET', `/rpc/markets.get?input=${input}`, 'read');
  expect(await got.json()).toMatchObject({
    result: { market_id: 'RAIN-1', tick_size: '0.01', closes_at: '2030-01-01T00:00:00.000Z' },
  });
  const posted = await service.ask(
    'POST',
    '/rpc/markets.list',
    'trade:read',
    '{"input":{"exchangeId":"venue_b"}}',
  );
  expect(await posted.json()).toMatchObject({ result: { markets: [{ market_id: 'RAIN-1' }] } });
});

it('a fee quote uses the fee schedule and the present book', async () => {
  service.answer = slotsOr({});
  const path =
    '/orders/fee-quote?exchange_id=venue_b&market_id=RAIN-1&outcome=Yes&side=buy&kind=limit&quantity=10';
  const taker = await service.ask('GET', `${path}&price=0.41`, ALL);
  expect(await taker.json()).toMatchObject({
    liquidity: 'taker',
    notional: '4.1',
    venue_fee: '0.17',
    effective_price: '0.427',
  });
  const maker = await service.ask('GET', `${path}&price=0.40`, ALL);
  expect(await maker.json()).toMatchObject({
    liquidity: 'maker',
    venue_fee: '0.05',
    currency: 'USD',
    gas_fee: '0',
  });
});

it('links the account of a caller that has agreed to the terms', async () => {
  service.answer = slotsOr({ linked_at: '2026-11-28T12:00:00.123456789Z' });
  const agreed = '{"terms_version":"2026-11","attestations":{"residency":true,"age":true,"terms":true}}';
  const linked = await service.ask('POST', '/exchanges/venue_b/enable-trading', ALL, agreed);
  expect(await linked.json()).toEqual({
    ...{ exchange_id: 'venue_b', trading_linked: true, linked_at: '2026-11-28T12:00:00.123Z' },
  });
  expect(service.asked).toMatchObject([{ op: 'link_venue', user_id: 'user-1', venue: 'venue_b' }]);
});

describe('balances, when a venue cannot be read', () => {
  const links = { links: [{ venue: 'venue_e', account: '0xAB', linked_at: '2026-11-28T12:00:00Z' }] };
  const balancesOf = async (name: string, input: object): Promise<Record<string, unknown>> => {
    const response = await service.ask('POST', `/rpc/${name}`, 'position:read', JSON.stringify({ input }));
    expect(response.status).toBe(200);
    return ((await response.json()) as { result: Record<string, unknown> }).result;
  };
  const unread = { value: '0.00', held: '0.00', available: false };

  it('show what was read, and name the venue that was not', async () => {
    service.answer = ({ op }) => {
      if (op === 'links') return { status: 200, body: toWire(links) };
      return op === 'account_balances'
        ? { status: 503, body: toWire({ code: 'EXCHANGE_UNAVAILABLE', message: 'it is down' }) }
        : { status: 200, body: toWire({}) };
    };
    const balances = await balancesOf('balances.getAllBalances', {});
    expect(balances).toMatchObject({
      balances: [
        { exchangeId: 'venue_b', available: true },
        { exchangeId: 'venue_e', walletAddress: '0xab', ...unread },
      ],
      degraded: true,
      degradedReads: [{ leg: 'venue_e', reason: 'EXCHANGE_UNAVAILABLE' }],
    });
  });

  it("show every venue as unread while the caller's cell is silent, and still show the vault", async () => {
    service.answer = () => new Promise(() => undefined);
    const reason = 'CELL_UNAVAILABLE';
    const legs = ['venue_b', 'venue_e'];
    expect(await balancesOf('balances.getAllBalances', {})).toMatchObject({
      balances: legs.map((exchangeId) => ({ exchangeId, ...unread })),
      degraded: true,
      degradedReads: legs.map((leg) => ({ leg, reason })),
    });
    expect(await balancesOf('balances.getWalletBalances', { walletAddress: '0xAB' })).toMatchObject({
      balances: [{ exchangeId: 'venue_e', ...unread }],
      degradedReads: [{ leg: 'venue_e', reason }],
    });
    expect(await balancesOf('balances.getVaultBalances', {})).toMatchObject({
      balances: [],
      degraded: false,
    });
  });
});

it("operators see the signer's counts, or SIGNER_UNAVAILABLE", async () => {
  service.answer = slotsOr({ keys: 4, signatures: 12 });
  const status = await service.ask('POST', '/rpc/admin.signer.status', 'operator', '{}');
  expect(await status.json()).toMatchObject({ result: { keys: 4, signatures: 12 } });
  service.answer = slotsOr({ code: 'SIGNER_UNAVAILABLE', message: 'away' }, 503);
  const away = await service.ask('GET', '/rpc/admin.signer.status', 'operator');
  expect([away.status, await away.json()]).toMatchObject([
    503,
    { error_details: { code: 'SIGNER_UNAVAILABLE' } },
  ]);
});

it('an order that no cell knows is ORDER_NOT_FOUND, or CELL_UNAVAILABLE while a cell is silent', async () => {
  const body = JSON.stringify({ input: { orderId: ORDER, reason: 'a customer asks' } });
  const reconciled = async (): Promise<string> =>
    summaryOf(await service.ask('POST', '/rpc/admin.orders.reconcile', 'operator', body));
  service.answer = slotsOr({ code: 'ORDER_NOT_FOUND', message: 'none' }, 404);
  expect(await reconciled()).toBe('404 ORDER_NOT_FOUND');
  service.answer = slotsOr({ code: 'CELL_UNAVAILABLE', message: 'away' }, 503);
  expect(await reconciled()).toBe('503 CELL_UNAVAILABLE');
  expect(service.asked).toContainEqual({ op: 'order_owner', order_id: ORDER });
});
