import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NewUser } from '#libs/identity/accounts/enrol-users.js';
import {
  enterTrader,
  headersOf,
  newKey,
  openKeyGateway,
  type KeyGateway,
} from '#libs/identity/api-keys/api-keys.fixture.js';
import { logIn, PASSWORD } from '#libs/identity/gateway.fixture.js';
import { identityMigrations } from '#libs/identity/migrations/list.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { openAccountListener, type AccountListener } from './account-listener.fixture.js';

let database: TestDatabase;
let gateway: KeyGateway;
let listener: AccountListener;
let trader: NewUser;
let session: Record<string, string>;
let cellReplies: Partial<Record<string, LinkReply>>;

const DONE: LinkReply = { status: 200, body: '{}' };
const LIMITS = { limits: [], as_of: '2026-11-28T00:00:00.000Z' };
const MILLIS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
});

beforeEach(async () => {
  trader = await enterTrader(database.pool);
  gateway = await openKeyGateway(database.url, new SystemClock());
  cellReplies = {
    links: { status: 200, body: '{"links":[]}' },
    limits: { status: 200, body: JSON.stringify(LIMITS) },
  };
  listener = await openAccountListener(gateway, ({ op }) => cellReplies[op] ?? DONE);
  await eventually(() => expect(listener.isConnected()).toBe(true));
  session = { authorization: `Bearer ${await logIn(gateway.identity, trader)}`, 'x-reauth': PASSWORD };
});

afterEach(async () => {
  expect(listener.faults).toEqual([]);
  await listener.close();
  await gateway.close();
});

afterAll(() => database.drop());

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

let lastHost = 0;

/** An address of this machine that no earlier call has used. */
function newSource(): string {
  lastHost += 1;
  return `127.33.${lastHost >> 8}.${lastHost & 255}`;
}

interface Asking {
  readonly headers?: Record<string, string>;
  readonly body?: object;
  readonly from?: string;
}

function ask(
  method: string,
  path: string,
  { headers = session, body, from: localAddress = newSource() }: Asking = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { port } = listener;
    const request = httpRequest(
      { port, host: '127.0.0.1', localAddress, method, path, headers },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          const read = text === '' ? {} : (JSON.parse(text) as Answer['body']);
          resolve({ status: response.statusCode ?? 0, body: read });
        });
      },
    );
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const KEYS = '/account/api-keys';
const create = (body: object = { name: 'desk', preset: 'trading' }): Promise<Answer> =>
  ask('POST', KEYS, { body });

function tripleIn({ body }: Answer): Record<string, string> {
  return headersOf({
    client_id: String(body.client_id),
    api_key: String(body.api_key),
    api_secret: String(body.api_secret),
  });
}

describe('API keys of a user', () => {
  it('are created with secrets and listed without them', async () => {
    const made = await create({
      ...{ name: 'desk', preset: 'trading', ip_allow_list: ['192.0.2.7', '::1'] },
      ...{ expires_at: '2031-01-02T03:04:05Z', orders_per_minute: 6e1 },
    });
    const row = {
      client_id: expect.stringMatching(/^sotto_ck_[0-9a-f]{24}$/),
      name: 'desk',
      preset: 'trading',
      scopes: ['position:read', 'read', 'trade:execute', 'trade:read'],
      ip_allow_list: ['192.0.2.7', '::1'],
      orders_per_minute: 60,
      expires_at: '2031-01-02T03:04:05.000Z',
      created_at: expect.stringMatching(MILLIS),
    };
    const secret = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(made).toEqual({ status: 201, body: { ...row, api_key: secret, api_secret: secret } });
    expect(made.body.api_key).not.toBe(made.body.api_secret);
    expect(await ask('GET', KEYS)).toEqual({ status: 200, body: { api_keys: [row] } });
  });

  it('show when they were last used', async () => {
    const made = await create({ name: 'r', preset: 'readonly' });
    expect((await ask('GET', '/account/limits', { headers: tripleIn(made) })).status).toBe(200);
    await eventually(async () => {
      const { body } = await ask('GET', KEYS);
      expect(body).toMatchObject({ api_keys: [{ last_used_at: expect.stringMatching(MILLIS) }] });
    });
  });

  it('that have expired are refused, even if just created', async () => {
    const made = await create({ name: 'r', preset: 'readonly', expires_at: '2020-01-01T00:00:00Z' });
    expect(made).toMatchObject({ status: 201, body: { expires_at: '2020-01-01T00:00:00.000Z' } });
    expect((await ask('GET', '/account/limits', { headers: tripleIn(made) })).status).toBe(401);
  });

  it.each<[string, object]>([
    ['no name', { preset: 'trading' }],
    ['an empty name', { name: '', preset: 'trading' }],
    ['a long name', { name: 'x'.repeat(65), preset: 'trading' }],
    ['no preset', { name: 'x' }],
    ['another preset', { name: 'x', preset: 'all' }],
    ['scopes of its own', { name: 'x', preset: 'trading', scopes: ['*'] }],
    ['a network', { name: 'x', preset: 'trading', ip_allow_list: ['10.0.0.0/8'] }],
    ['51 addresses', { name: 'x', preset: 'trading', ip_allow_list: Array(51).fill('10.0.0.1') }],
    ['zero orders per minute', { name: 'x', preset: 'trading', orders_per_minute: 0 }],
    ['too many orders per minute', { name: 'x', preset: 'trading', orders_per_minute: 10_001 }],
    ['a fraction of an order per minute', { name: 'x', preset: 'trading', orders_per_minute: 1.5 }],
    ['an expiry that is no time', { name: 'x', preset: 'trading', expires_at: 'soon' }],
    [
      'an expiry after the last allowed year',
      { name: 'x', preset: 'trading', expires_at: '9999-12-31T00:00:00Z' },
    ],
  ])('are not created with %s', async (_title, body) => {
    expect((await create(body)).status).toBe(400);
    expect((await ask('GET', KEYS)).body).toEqual({ api_keys: [] });
  });

  it('are at most twenty, not counting revoked ones', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => create()));
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
    expect(await create()).toEqual({
      status: 409,
      body: {
        error: expect.any(String),
        code: 'ApiKeyLimit',
        error_details: { code: 'API_KEY_LIMIT', metadata: { classification: 'expected_user_rejection' } },
      },
    });
    expect(await ask('DELETE', `${KEYS}/${String(made[0]?.body.client_id)}`)).toEqual({
      status: 204,
      body: {},
    });
    const both = await Promise.all([create(), create()]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('change only in the given fields, and null removes a field', async () => {
    const { body: made } = await create({
      name: 'a',
      preset: 'readonly',
      orders_per_minute: 5,
      ip_allow_list: ['::1'],
    });
    const at = `${KEYS}/${String(made.client_id)}`;
    const changed = await ask('PATCH', at, { body: { name: 'b', expires_at: '2031-01-01T00:00:00Z' } });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        name: 'b',
        orders_per_minute: 5,
        ip_allow_list: ['::1'],
        expires_at: '2031-01-01T00:00:00.000Z',
      },
    });
    const cleared = await ask('PATCH', at, {
      body: { name: null, orders_per_minute: null, expires_at: null, ip_allow_list: null },
    });
    expect(cleared).toMatchObject({ status: 200, body: { name: 'b', ip_allow_list: [] } });
    expect(cleared.body).not.toHaveProperty('orders_per_minute');
    expect(cleared.body).not.toHaveProperty('expires_at');
    expect(cleared.body).not.toHaveProperty('api_key');
    expect((await ask('PATCH', at, { body: { scopes: ['*'] } })).status).toBe(400);
  });

  it('that are revoked are refused and not found', async () => {
    const made = await create();
    const at = `${KEYS}/${String(made.body.client_id)}`;
    const limits = (): Promise<Answer> => ask('GET', '/account/limits', { headers: tripleIn(made) });
    expect((await limits()).status).toBe(200);
    expect((await ask('DELETE', at)).status).toBe(204);
    expect((await limits()).status).toBe(401);
    for (const [method, path, body] of [
      ['DELETE', at, undefined],
      ['PATCH', at, { name: 'x' }],
      ['POST', `${at}/rotate`, { overlap_seconds: 0 }],
    ] as const) {
      expect((await ask(method, path, body === undefined ? {} : { body })).status).toBe(404);
    }
  });

  it('keep their id when they are rotated', async () => {
    const made = await create();
    const path = `${KEYS}/${String(made.body.client_id)}/rotate`;
    for (const overlap_seconds of [undefined, -1, 86_401, 1.5, '60']) {
      expect((await ask('POST', path, { body: { overlap_seconds } })).status).toBe(400);
    }
    const rotated = await ask('POST', path, { body: { overlap_seconds: 60 } });
    expect(rotated).toMatchObject({
      status: 200,
      body: { client_id: made.body.client_id, previous_valid_until: expect.stringMatching(MILLIS) },
    });
    for (const one of [made, rotated]) {
      expect((await ask('GET', '/account/limits', { headers: tripleIn(one) })).status).toBe(200);
    }
  });

  it('are not visible to other users', async () => {
    const made = await create();
    const other = await enterTrader(database.pool);
    await gateway.identity.watch.refresh();
    const authorization = `Bearer ${await logIn(gateway.identity, other)}`;
    const headers = { authorization, 'x-reauth': PASSWORD };
    expect((await ask('GET', KEYS, { headers })).body).toEqual({ api_keys: [] });
    const at = `${KEYS}/${String(made.body.client_id)}`;
    expect((await ask('DELETE', at, { headers })).status).toBe(404);
    expect((await ask('PATCH', at, { headers, body: { name: 'mine' } })).status).toBe(404);
    expect((await ask('POST', `${at}/rotate`, { headers, body: { overlap_seconds: 0 } })).status).toBe(404);
    expect((await ask('DELETE', `${KEYS}/nonsense`, { headers })).body).toMatchObject({
      error_details: { code: 'VALIDATION_INVALID_ID' },
    });
  });
});

describe('the password', () => {
  const calls = [
    ['GET', KEYS, undefined],
    ['POST', KEYS, { name: 'x', preset: 'trading' }],
    ['PATCH', `${KEYS}/sotto_ck_${'0'.repeat(24)}`, { name: 'x' }],
    ['DELETE', `${KEYS}/sotto_ck_${'0'.repeat(24)}`, undefined],
    ['POST', `${KEYS}/sotto_ck_${'0'.repeat(24)}/rotate`, { overlap_seconds: 0 }],
  ] as const;

  it.each(calls)('is required by %s %s, which only sessions may call', async (method, path, body) => {
    const { authorization = '' } = session;
    const sent = body === undefined ? {} : { body };
    expect((await ask(method, path, { headers: { authorization }, ...sent })).status).toBe(401);
    const wrong = { authorization, 'x-reauth': 'wrong' };
    expect((await ask(method, path, { headers: wrong, ...sent })).status).toBe(401);
    const { triple } = await newKey(gateway, trader);
    const byKey = { ...headersOf(triple), 'x-reauth': PASSWORD };
    expect((await ask(method, path, { headers: byKey, ...sent })).status).toBe(403);
  });

  it('counts as a failure of the address if it is wrong, but not if it is missing', async () => {
    const from = newSource();
    const { authorization = '' } = session;
    for (let count = 0; count < 12; count += 1) {
      expect((await ask('GET', KEYS, { headers: { authorization }, from })).status).toBe(401);
    }
    const wrong = { authorization, 'x-reauth': 'wrong' };
    for (let count = 0; count < 10; count += 1) {
      expect((await ask('GET', KEYS, { headers: wrong, from })).status).toBe(401);
    }
    expect((await ask('GET', KEYS, { from })).status).toBe(429);
    expect((await ask('GET', '/account/limits', { from })).status).toBe(429);
  });

  it('may have letters that are not ASCII', async () => {
    expect((await ask('GET', KEYS, { headers: { ...session, 'x-reauth': 'p\u00e4ss' } })).status).toBe(401);
  });
});

describe('GET /account/scopes', () => {
  it('shows the scopes of a key and where its user is linked', async () => {
    cellReplies.links = {
      status: 200,
      body: '{"links":[{"venue":"venue_e","account":"0x1","linked_at":"x"}]}',
    };
    await gateway.keys.access.set(
      { provider: 'venue_b', enabled: false, by: trader.accountId, reason: 'test' },
      () => Promise.resolve(),
    );
    const made = await create({ name: 'x', preset: 'readonly', orders_per_minute: 9 });
    expect(await ask('GET', '/account/scopes', { headers: tripleIn(made) })).toEqual({
      status: 200,
      body: {
        user_id: trader.accountId,
        auth_method: 'api_key',
        client_id: made.body.client_id,
        scopes: ['position:read', 'read', 'trade:read'],
        scope_model: 'explicit',
        rate_limits: { orders_per_minute: 9 },
        venues: [
          {
            exchange_id: 'venue_b',
            api_access_enabled: false,
            trading_linked: false,
            link_with: 'POST /exchanges/venue_b/enable-trading',
          },
          { exchange_id: 'venue_e', api_access_enabled: true, trading_linked: true },
        ],
        as_of: expect.stringMatching(MILLIS),
      },
    });
  });

  it('shows all scopes and no client id for a session', async () => {
    const access = { provider: 'venue_b', enabled: null, by: trader.accountId, reason: 'test' };
    await gateway.keys.access.set(access, () => Promise.resolve());
    const { body } = await ask('GET', '/account/scopes');
    expect(body).toMatchObject({
      auth_method: 'session',
      scopes: ['position:read', 'read', 'trade', 'trade:execute', 'trade:read'],
      scope_model: 'unrestricted',
      rate_limits: {},
      venues: [
        { exchange_id: 'venue_b', api_access_enabled: null },
        { exchange_id: 'venue_e', link_with: 'venues.link' },
      ],
    });
    expect(body).not.toHaveProperty('client_id');
  });

  it('asks the cell for the links once in ten seconds, and again after a refusal', async () => {
    cellReplies.links = { status: 503, body: '{"code":"CELL_UNAVAILABLE","message":"x"}' };
    expect(await ask('GET', '/account/scopes')).toMatchObject({
      status: 503,
      body: { error_details: { code: 'CELL_UNAVAILABLE' } },
    });
    cellReplies.links = { status: 200, body: '{"links":[]}' };
    for (let count = 0; count < 3; count += 1) {
      expect((await ask('GET', '/account/scopes')).status).toBe(200);
    }
    expect(listener.asked.filter(({ op }) => op === 'links')).toHaveLength(2);
    expect(listener.asked.filter(({ op }) => op === 'take_slot')).toHaveLength(4);
  });

  it('is refused with 429 after too many reads', async () => {
    cellReplies.take_slot = {
      status: 429,
      body: '{"code":"RATE_LIMITED_CALLS","message":"x","retry_after":1}',
    };
    expect((await ask('GET', '/account/scopes')).status).toBe(429);
  });
});

describe('GET /account/limits', () => {
  it("shows the cell's limits, passes on the key, and takes no slot", async () => {
    const made = await create({ name: 'x', preset: 'trading', orders_per_minute: 7 });
    expect(await ask('GET', '/account/limits', { headers: tripleIn(made) })).toEqual({
      status: 200,
      body: LIMITS,
    });
    expect(listener.asked).toEqual([
      {
        op: 'limits',
        user_id: trader.accountId,
        request_id: expect.any(String),
        client_id: made.body.client_id,
        orders_per_minute: 7,
      },
    ]);
  });
});

it('no table has a secret', async () => {
  const made = await create();
  const rotated = await ask('POST', `${KEYS}/${String(made.body.client_id)}/rotate`, {
    body: { overlap_seconds: 60 },
  });
  await ask('GET', '/account/limits', { headers: tripleIn(rotated) });
  await ask('GET', KEYS, { headers: { ...tripleIn(rotated), 'x-api-key': 'e'.repeat(64) } });
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables where table_schema = 'identity'`,
  );
  const dumps = await Promise.all(
    tables.map(({ name }) =>
      database.pool.query<{ text: string }>(`select row_to_json(t)::text as text from ${name} t`),
    ),
  );
  const everything = JSON.stringify(dumps.map(({ rows }) => rows));
  expect(everything).toContain(String(made.body.client_id));
  for (const { body } of [made, rotated]) {
    expect(everything).not.toContain(body.api_key);
    expect(everything).not.toContain(body.api_secret);
  }
  expect(everything).not.toContain('e'.repeat(64));
  expect(everything).not.toContain(PASSWORD);
});
