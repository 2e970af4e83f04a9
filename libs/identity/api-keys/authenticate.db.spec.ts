import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { openProxy } from '#libs/testing/network/tcp-proxy.js';
import type { NewUser } from '../accounts/enrol-users.js';
import { AccountAdministration } from '../accounts/account-administration.js';
import { enterStranger, logIn, NOON } from '../gateway.fixture.js';
import { HandClock } from '../hand-clock.fixture.js';
import { identityMigrations } from '../migrations/list.js';
import {
  enterTrader,
  headersOf,
  newKey,
  newPeer,
  openKeyGateway,
  TRADING,
  verdict,
  type KeyGateway,
} from './api-keys.fixture.js';
import { SESSION_SCOPES } from './scopes.js';

let database: TestDatabase;
let gateway: KeyGateway;
let trader: NewUser;
const others: KeyGateway[] = [];

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
});

beforeEach(async () => {
  trader = await enterTrader(database.pool);
  gateway = await openKeyGateway(database.url, new SystemClock());
});

afterEach(async () => {
  await Promise.all([gateway, ...others.splice(0)].map((gatewayUnderTest) => gatewayUnderTest.close()));
});

afterAll(() => database.drop());

async function openOther(url = database.url): Promise<KeyGateway> {
  const opened = await openKeyGateway(url, new SystemClock());
  others.push(opened);
  return opened;
}

async function millisUntil(holds: () => boolean | Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > 5_000) throw new Error('the condition never became true');
    await sleep(5);
  }
  return performance.now() - began;
}

const WRONG_KEY = { 'x-api-key': 'f'.repeat(64) };

describe('a triple', () => {
  it('authenticates its user, with its scopes and its own limit', async () => {
    const issued = await gateway.keys.service.create(trader.accountId, {
      name: 'desk',
      preset: 'readonly',
      orders_per_minute: 30,
    });
    const outcome = await gateway.ask(headersOf(issued!.triple), newPeer());
    expect(outcome).toMatchObject({
      ok: true,
      caller: {
        user_id: trader.accountId,
        auth_method: 'api_key',
        client_id: issued!.triple.client_id,
        scopes: ['position:read', 'read', 'trade:read'],
        orders_per_minute: 30,
      },
    });
    expect(outcome).not.toHaveProperty('caller.session');
  });

  it.each<[string, (good: Record<string, string>) => Record<string, string>]>([
    ['another key', (good) => ({ ...good, ...WRONG_KEY })],
    ['another secret', (good) => ({ ...good, 'x-api-secret': '0'.repeat(64) })],
    ['an unknown id', (good) => ({ ...good, 'x-client-id': `sotto_ck_${'0'.repeat(24)}` })],
    ['an empty id', (good) => ({ ...good, 'x-client-id': '' })],
    ['an id of another form', (good) => ({ ...good, 'x-client-id': 'acme_ck_1' })],
    ['a short key', (good) => ({ ...good, 'x-api-key': 'ff' })],
    ['an id sent twice', (good) => ({ ...good, 'x-client-id': `${good['x-client-id']}, x` })],
    ['the right triple in capitals', (good) => ({ ...good, 'x-api-key': good['x-api-key']!.toUpperCase() })],
  ])('with %s is refused with the status of the endpoint', async (_what, alter) => {
    const headers = alter(headersOf((await newKey(gateway, trader)).triple));
    expect(verdict(await gateway.ask(headers, newPeer(), { wrongTriple: 401 }))).toBe(401);
    expect(verdict(await gateway.ask(headers, newPeer(), { wrongTriple: 403 }))).toBe(403);
  });

  it.each(['x-api-key', 'x-api-secret'])('without %s gets 401 on every call', async (missing) => {
    const whole = Object.entries(headersOf((await newKey(gateway, trader)).triple));
    const headers = Object.fromEntries(whole.filter(([name]) => name !== missing));
    expect(verdict(await gateway.ask(headers, newPeer(), { wrongTriple: 403 }))).toBe(401);
  });

  it('that is wrong is refused, also together with a valid session', async () => {
    const authorization = `Bearer ${await logIn(gateway.identity, trader)}`;
    const headers = { ...headersOf((await newKey(gateway, trader)).triple), ...WRONG_KEY, authorization };
    expect(verdict(await gateway.ask(headers, newPeer()))).toBe(401);
  });

  it('without its id is ignored together with a bearer or a cookie, and refused alone', async () => {
    const token = await logIn(gateway.identity, trader);
    const parts = { 'x-api-key': 'a', 'x-api-secret': 'b' };
    expect(verdict(await gateway.ask({ ...parts, authorization: `Bearer ${token}` }, newPeer()))).toBe('ok');
    expect(verdict(await gateway.ask({ ...parts, cookie: `custody_session_jwt=${token}` }, newPeer()))).toBe(
      'ok',
    );
    expect(verdict(await gateway.ask(parts, newPeer(), { wrongTriple: 403 }))).toBe(401);
  });

  it('from an unlisted address gets 403; mapped addresses match the list', async () => {
    const peer = newPeer();
    const { triple } = await newKey(gateway, trader, { ip_allow_list: [peer, '::1'] });
    expect(verdict(await gateway.ask(headersOf(triple), newPeer()))).toBe(403);
    expect(verdict(await gateway.ask(headersOf(triple), peer))).toBe('ok');
    expect(verdict(await gateway.ask(headersOf(triple), `::ffff:${peer}`))).toBe('ok');
    expect(verdict(await gateway.ask(headersOf(triple), '::1'))).toBe('ok');
  });

  it('is refused once its user is disabled', async () => {
    const { triple } = await newKey(gateway, trader);
    expect(verdict(await gateway.ask(headersOf(triple), newPeer()))).toBe('ok');
    await new AccountAdministration(database.pool, new SystemClock(), TRADING).disable(trader.accountId);
    await eventually(async () => expect(verdict(await gateway.ask(headersOf(triple), newPeer()))).toBe(401));
  });

  it('that was created under another secret of the process is invalid', async () => {
    const withOtherSecret = await openKeyGateway(database.url, new SystemClock(), '77'.repeat(32));
    others.push(withOtherSecret);
    const { triple } = await newKey(withOtherSecret, trader);
    expect(verdict(await withOtherSecret.ask(headersOf(triple), newPeer()))).toBe('ok');
    expect(verdict(await gateway.ask(headersOf(triple), newPeer()))).toBe(401);
  });
});

describe('a session', () => {
  it('is accepted as a bearer, as a cookie, or in another way, and has every scope', async () => {
    const token = await logIn(gateway.identity, trader);
    const outcomes = [
      gateway.ask({ authorization: `Bearer ${token}` }, newPeer()),
      gateway.ask({ cookie: `a=b; custody_session_jwt=${token}; c=d` }, newPeer()),
      gateway.ask({}, newPeer(), { token }),
    ];
    for (const outcome of await Promise.all(outcomes)) {
      expect(outcome).toMatchObject({
        ok: true,
        caller: { user_id: trader.accountId, auth_method: 'session', scopes: SESSION_SCOPES },
      });
    }
  });

  it('is taken from the bearer if there is a cookie too', async () => {
    const cookie = `custody_session_jwt=${await logIn(gateway.identity, trader)}`;
    expect(verdict(await gateway.ask({ cookie, authorization: 'Bearer a.b.c' }, newPeer()))).toBe(401);
    expect(verdict(await gateway.ask({ cookie, authorization: 'Basic abc' }, newPeer()))).toBe('ok');
  });

  it('in a cookie is refused if cookies are not accepted', async () => {
    const cookie = `custody_session_jwt=${await logIn(gateway.identity, trader)}`;
    expect(verdict(await gateway.ask({ cookie }, newPeer(), { takesCookie: false }))).toBe(401);
  });

  it('with two cookies of the name is refused', async () => {
    const cookie = `custody_session_jwt=${await logIn(gateway.identity, trader)}`;
    expect(verdict(await gateway.ask({ cookie: `${cookie}; custody_session_jwt=x` }, newPeer()))).toBe(401);
  });

  it('of a user that the service does not know is refused', async () => {
    const stranger = await enterStranger(database.pool);
    const authorization = `Bearer ${await logIn(gateway.identity, stranger)}`;
    expect(verdict(await gateway.ask({ authorization }, newPeer()))).toBe(401);
  });
});

describe('within a second, on every process and on open sockets', () => {
  it.each<[string, (id: string) => Promise<unknown>]>([
    ['a revocation', (id) => gateway.keys.service.revoke(trader.accountId, id)],
    ['an end', (id) => gateway.keys.service.change(trader.accountId, id, { expires_at: new Date() })],
    [
      'a list of addresses',
      (id) => gateway.keys.service.change(trader.accountId, id, { ip_allow_list: ['192.0.2.1'] }),
    ],
    ['a rotation without overlap', (id) => gateway.keys.service.rotate(trader.accountId, id, 0)],
    [
      'a manual change in the database',
      (id) =>
        database.pool.query('update identity.api_keys set revoked_at = now() where client_id = $1', [id]),
    ],
  ])('%s takes effect', async (_what, change) => {
    const other = await openOther();
    const { triple } = await newKey(gateway, trader);
    const peer = newPeer();
    const open = await other.ask(headersOf(triple), peer);
    if (!open.ok) throw new Error('the key was refused');
    await change(triple.client_id);
    const millis = await millisUntil(async () => 'status' in (await open.recheck()));
    expect(millis).toBeLessThan(1_000);
    expect(verdict(await other.ask(headersOf(triple), newPeer()))).not.toBe('ok');
  });

  it('flags of providers take effect, and the default is enabled', async () => {
    const other = await openOther();
    expect(other.keys.access.accessOf('venue_b')).toBe('enabled');
    const decide = (enabled: boolean | null): Promise<void> =>
      gateway.keys.access.set({ provider: 'venue_b', enabled, by: trader.accountId, reason: 'a test' }, () =>
        Promise.resolve(),
      );
    for (const [enabled, state] of [
      [false, 'disabled'],
      [null, 'unknown'],
      [true, 'enabled'],
    ] as const) {
      await decide(enabled);
      expect(gateway.keys.access.accessOf('venue_b')).toBe(state);
      expect(await millisUntil(() => other.keys.access.accessOf('venue_b') === state)).toBeLessThan(1_000);
    }
  });

  it('a key from another process is valid at once, even if its id was looked up before', async () => {
    const other = await openOther();
    const { triple } = await newKey(gateway, trader);
    expect(verdict(await other.ask(headersOf(triple), newPeer()))).toBe('ok');
  });
});

describe('a rotation', () => {
  it('keeps the previous triple valid for the overlap, with the same id', async () => {
    const { triple: before } = await newKey(gateway, trader);
    const rotated = await gateway.keys.service.rotate(trader.accountId, before.client_id, 3_600);
    const { triple: present, previous_valid_until: until } = rotated!;
    expect(present.client_id).toBe(before.client_id);
    expect(until.getTime() - Date.now()).toBeGreaterThan(3_500_000);
    expect(verdict(await gateway.ask(headersOf(before), newPeer()))).toBe('ok');
    expect(verdict(await gateway.ask(headersOf(present), newPeer()))).toBe('ok');
    await database.pool.query(
      'update identity.api_keys set previous_valid_until = now() where client_id = $1',
      [before.client_id],
    );
    await eventually(async () => expect(verdict(await gateway.ask(headersOf(before), newPeer()))).toBe(401));
    expect(verdict(await gateway.ask(headersOf(present), newPeer()))).toBe('ok');
  });
});

describe('ten failures from one address', () => {
  const failOnce = (gatewayUnderTest: KeyGateway, peer: string): Promise<'ok' | number> =>
    gatewayUnderTest.ask({ authorization: 'Bearer a.b.c' }, peer).then(verdict);

  it('get the usual reply; then all calls with credentials get 429 on every process', async () => {
    const other = await openOther();
    const bystander = await openOther();
    const peer = newPeer();
    const good = headersOf((await newKey(gateway, trader)).triple);
    for (let count = 0; count < 5; count += 1) {
      expect(await failOnce(gateway, peer)).toBe(401);
      expect(await failOnce(other, `::ffff:${peer}`)).toBe(401);
    }
    expect(await failOnce(gateway, peer)).toBe(429);
    expect(await failOnce(other, peer)).toBe(429);
    expect(verdict(await other.ask(good, peer))).toBe(429);
    expect(await millisUntil(async () => verdict(await bystander.ask(good, peer)) === 429)).toBeLessThan(
      1_000,
    );
    expect(verdict(await gateway.ask({}, peer))).toBe(401);
    expect(verdict(await gateway.ask(good, newPeer()))).toBe('ok');
  });

  it('are exactly ten, even if concurrent', async () => {
    const other = await openOther();
    const peer = newPeer();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, number) => failOnce(number % 2 === 0 ? gateway : other, peer)),
    );
    expect(answers.filter((answer) => answer === 401)).toHaveLength(10);
    expect(answers.filter((answer) => answer === 429)).toHaveLength(30);
  });

  it('do not include calls without credentials, calls from unlisted addresses, or throttled calls', async () => {
    const peer = newPeer();
    const { triple } = await newKey(gateway, trader, { ip_allow_list: ['192.0.2.1'] });
    for (let count = 0; count < 12; count += 1) {
      expect(verdict(await gateway.ask({}, peer))).toBe(401);
      expect(verdict(await gateway.ask(headersOf(triple), peer))).toBe(403);
    }
    for (let count = 0; count < 10; count += 1) expect(await failOnce(gateway, peer)).toBe(401);
    const { rows } = await database.pool.query('select from identity.auth_failures where address = $1', [
      peer,
    ]);
    for (let count = 0; count < 5; count += 1) expect(await failOnce(gateway, peer)).toBe(429);
    expect(rows).toHaveLength(10);
  });

  it('are counted in a sliding window', async () => {
    const clock = new HandClock(NOON);
    const gatewayUnderTest = await openKeyGateway(database.url, clock);
    others.push(gatewayUnderTest);
    const peer = newPeer();
    const age = async (seconds: number): Promise<void> => {
      const values = [peer, seconds];
      await database.pool.query(
        `update identity.auth_failures set failed_at = failed_at - make_interval(secs => $2) where address = $1`,
        values,
      );
      await database.pool.query(
        `update identity.auth_blocks set blocked_until = blocked_until - make_interval(secs => $2) where address = $1`,
        values,
      );
      clock.pass(seconds * 1_000);
    };
    for (let count = 0; count < 5; count += 1) expect(await failOnce(gatewayUnderTest, peer)).toBe(401);
    await age(30);
    for (let count = 0; count < 5; count += 1) expect(await failOnce(gatewayUnderTest, peer)).toBe(401);
    expect(await failOnce(gatewayUnderTest, peer)).toBe(429);
    await age(31);
    for (let count = 0; count < 5; count += 1) expect(await failOnce(gatewayUnderTest, peer)).toBe(401);
    expect(await failOnce(gatewayUnderTest, peer)).toBe(429);
  });
});

describe('without the database', () => {
  it('keys get 503 and access is unknown once the cached data is too old', async () => {
    const location = new URL(database.url);
    const proxy = await openProxy({ target: { host: location.hostname, port: Number(location.port) } });
    location.host = `127.0.0.1:${proxy.port}`;
    const other = await openOther(location.href);
    const { triple } = await newKey(gateway, trader);
    expect(verdict(await other.ask(headersOf(triple), newPeer()))).toBe('ok');
    try {
      proxy.cut();
      proxy.refuse();
      await eventually(() => expect(other.keys.access.accessOf('venue_b')).toBe('unknown'));
      expect(verdict(await other.ask(headersOf(triple), newPeer()))).toBe(503);
      expect(verdict(await other.ask({ ...headersOf(triple), ...WRONG_KEY }, newPeer()))).toBe(503);
      proxy.heal();
      await eventually(async () => expect(verdict(await other.ask(headersOf(triple), newPeer()))).toBe('ok'));
    } finally {
      proxy.heal();
      await Promise.all(others.splice(0).map((gatewayUnderTest) => gatewayUnderTest.close()));
      await proxy.close();
    }
  });
});
