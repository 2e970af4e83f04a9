import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AUDIENCE, ISSUER, TOKEN_VERSION } from '#libs/identity/tokens/claims.js';
import { eventually } from '#libs/testing/eventually.js';
import { ADMIN_SECRET, wrongTriple, type RequestHeaders } from '#libs/testing/data/data-callers.js';
import { DataWorld, type WorldRequest } from '#libs/testing/data/data-world.js';

let world: DataWorld;
beforeAll(async () => {
  world = await DataWorld.open({
    limitsFactor: 1_000,
    settings: { trustedProxies: ['127.0.0.250', '127.3.0.0/16'] },
  });
});
afterAll(() => world.close());
afterEach(async () => {
  expect(world.faults).toEqual([]);
  await world.callers.forgiveFailures();
});

const METADATA = '/markets/metadata?provider=venue_a&ticker=none';
const HISTORY = '/trades/history?provider=venue_a&contract_id=none';
const FOUND = '404 {"detail":"Market metadata not found: none"}';
const WRONG = '401 {"detail":"Invalid API credentials"}';
const THROTTLED = '429 {"detail":"Too many authentication failures"}';
const admin: RequestHeaders = { 'x-admin-secret': ADMIN_SECRET };

let hosts = 10;
/** A new address without failures. */
const newAddress = (): string => `127.0.1.${(hosts += 1)}`;

async function answerTo(path: string, request: WorldRequest = {}): Promise<string> {
  const { status, text } = await world.ask(path, { from: newAddress(), ...request });
  return `${status} ${text}`;
}

describe('a refused token', () => {
  interface Made {
    readonly claims?: object;
    readonly without?: string;
    readonly kid?: string;
    readonly key?: KeyObject;
    readonly header?: object;
  }
  const now = (): number => Math.floor(Date.now() / 1_000);

  function tokenOf({ claims = {}, without, kid, key, header = {} }: Made = {}): string {
    const signer = world.callers.identity.watch.keys()?.signer(now());
    if (signer === undefined) throw new Error('there is no key');
    const all = {
      ...{ iss: ISSUER, aud: AUDIENCE, ver: TOKEN_VERSION, sub: randomUUID(), sid: randomUUID() },
      ...{ jti: randomUUID(), iat: now() - 10, exp: now() + 600, ...claims },
    };
    const content = Object.fromEntries(Object.entries(all).filter(([name]) => name !== without));
    const keyid = kid ?? signer.kid;
    return jwt.sign(content, key ?? signer.privateKey, {
      ...{ algorithm: 'RS256', header: { alg: 'RS256', kid: keyid, ...header } },
    });
  }
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

  const ROWS: readonly (readonly [what: string, token: () => string, words: string])[] = [
    ['that is not a token', () => 'garbage', 'Invalid token'],
    ['that is empty', () => '', 'Invalid token'],
    ['of three meaningless parts', () => 'a.b.c', 'Invalid token'],
    ['without a signature', () => `${part({ alg: 'none' })}.${part({})}.`, 'Invalid token'],
    [
      'of another algorithm',
      () => jwt.sign({ sub: randomUUID() }, 'x'.repeat(32), { algorithm: 'HS256', keyid: 'k' }),
      'Invalid token',
    ],
    [
      'of another issuer, wrongly signed',
      () => tokenOf({ claims: { iss: 'x' }, key: foreign }),
      'Invalid token',
    ],
    ['without a session', () => tokenOf({ without: 'sid' }), 'Invalid token'],
    ['that lasts too long', () => tokenOf({ claims: { exp: now() + 1_000_000 } }), 'Invalid token'],
    ['from the future', () => tokenOf({ claims: { iat: now() + 100 } }), 'Invalid token'],
    [
      'of an unknown key, expired',
      () => tokenOf({ kid: 'x', claims: { iat: 1, exp: 9 } }),
      'Invalid token signature',
    ],
    ['signed with another key', () => tokenOf({ key: foreign }), 'Invalid token signature'],
    ['whose signature was cut', () => tokenOf().slice(0, -3), 'Invalid token signature'],
    [
      'that has expired, for others',
      () => tokenOf({ claims: { iat: now() - 100, exp: now() - 1, aud: 'x' } }),
      'Token has expired',
    ],
    [
      'for others, of another version',
      () => tokenOf({ claims: { aud: 'x', ver: 9 } }),
      'Invalid token audience',
    ],
    ['for several', () => tokenOf({ claims: { aud: [AUDIENCE] } }), 'Invalid token audience'],
    ['without an audience', () => tokenOf({ without: 'aud' }), 'Invalid token audience'],
    ['of another version', () => tokenOf({ claims: { ver: 2 } }), 'Token schema outdated'],
    ['without a version', () => tokenOf({ without: 'ver' }), 'Token schema outdated'],
    ['of an unknown user', () => tokenOf(), 'Session has been revoked'],
  ];

  it.each(ROWS)('%s', async (_what, token, words) => {
    const reply = `401 {"detail":"${words} - please log in again"}`;
    expect(await answerTo(METADATA, { headers: { authorization: `Bearer ${token()}` } })).toBe(reply);
    const cookie = token();
    if (cookie !== '') {
      expect(await answerTo(METADATA, { headers: { cookie: `custody_session_jwt=${cookie}` } })).toBe(reply);
    }
  });

  it('that was revoked, or whose session was revoked', async () => {
    const { callers } = world;
    const user = await callers.user();
    const [one, other] = [await callers.token(user), await callers.token(user)];
    await callers.identity.sessions.logout(one);
    await callers.identity.sessions.logoutAll(other);
    const bearer = (token: string): WorldRequest => ({ headers: { authorization: `Bearer ${token}` } });
    expect(await answerTo(METADATA, bearer(one))).toBe(
      '401 {"detail":"Token has been revoked - please log in again"}',
    );
    expect(await answerTo(METADATA, bearer(other))).toBe(
      '401 {"detail":"Session has been revoked - please log in again"}',
    );
  });

  it('does not count as a failure', async () => {
    const from = newAddress();
    for (let time = 0; time < 12; time += 1) {
      await answerTo(METADATA, { from, headers: { authorization: 'Bearer x' } });
      await answerTo(METADATA, { from, headers: { 'x-client-id': 'x' } });
      await answerTo(METADATA, { from });
    }
    expect(await answerTo(METADATA, { from, headers: admin })).toBe(FOUND);
  });
});

describe('ten wrong API keys from one address', () => {
  it('block all credentials from it, but not requests that need none', async () => {
    const from = newAddress();
    const session = await world.callers.session();
    for (let time = 0; time < 10; time += 1) {
      expect(await answerTo(METADATA, { from, headers: wrongTriple() })).toBe(WRONG);
    }
    for (const headers of [wrongTriple(), session, admin, { 'x-client-id': '' }]) {
      const reply = await world.ask(METADATA, { from, headers });
      expect(`${reply.status} ${reply.text}`).toBe(THROTTLED);
      expect(Object.keys(reply.headers).filter((name) => /retry|ratelimit/.test(name))).toEqual([]);
    }
    expect(await answerTo('/admin/ingest', { from, headers: admin })).toBe(THROTTLED);
    expect(
      await answerTo('/v1/marks?provider=venue_a&contract_id=x', { from, headers: session, on: 'companion' }),
    ).toBe(THROTTLED);
    expect(await answerTo(METADATA, { from })).toContain('401 {"detail":"Authentication required');
    expect((await world.ask('/providers/configs', { from, headers: session })).status).toBe(200);
    expect(
      (await world.ask('/v1/marks?provider=venue_a&contract_id=x', { from, on: 'companion' })).status,
    ).toBe(200);
    expect(await answerTo(METADATA, { headers: session })).toBe(FOUND);
  });

  it('count for the client of a trusted proxy', async () => {
    const from = '127.3.0.1';
    const forwarded = { 'x-forwarded-for': '198.51.100.9, ::ffff:203.0.113.7' };
    for (let time = 0; time < 10; time += 1) {
      expect(await answerTo(METADATA, { from, headers: { ...wrongTriple(), ...forwarded } })).toBe(WRONG);
    }
    expect(await answerTo(METADATA, { from, headers: { ...admin, 'x-forwarded-for': '203.0.113.7' } })).toBe(
      THROTTLED,
    );
    expect(await answerTo(METADATA, { from, headers: { ...admin, 'x-forwarded-for': '203.0.113.8' } })).toBe(
      FOUND,
    );
    expect(await answerTo(METADATA, { from, headers: admin })).toBe(FOUND);
    expect(await answerTo(METADATA, { headers: { ...admin, 'x-forwarded-for': '203.0.113.7' } })).toBe(FOUND);
  });
});

describe('the address of a caller', () => {
  const ROWS: readonly (readonly [from: string, forwarded: string | undefined, isListed: boolean])[] = [
    ['127.0.0.7', undefined, true],
    ['127.0.0.250', '127.0.0.7', true],
    ['127.0.0.250', '127.0.0.8, 127.0.0.7 ', true],
    ['127.0.0.250', '127.0.0.8,::ffff:127.0.0.7', true],
    ['127.0.0.250', '127.0.0.7, 127.0.0.8', false],
    ['127.0.0.250', '127.0.0.7, nonsense', false],
    ['127.0.0.250', '127.0.0.7,', false],
    ['127.0.0.8', '127.0.0.7', false],
    ['127.0.0.7', '127.0.0.8', true],
  ];
  it.each(ROWS)(
    'from peer %s with X-Forwarded-For %s is on the allow list: %s',
    async (from, forwarded, isListed) => {
      const key = await world.callers.key([], { addresses: ['127.0.0.7'] });
      const headers = { ...key, ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }) };
      expect(await answerTo(METADATA, { from, headers })).toBe(
        isListed ? FOUND : '403 {"detail":"IP address not allowed"}',
      );
    },
  );
});

describe('a scope', () => {
  it.each([
    [['trade:read'], true],
    [['*'], true],
    [['read', 'position:read', 'trade:execute'], false],
    [[], false],
  ])('of a key with %j allows it to read trades: %s', async (scopes, may) => {
    const key = await world.callers.key(scopes);
    const reply = await answerTo(HISTORY, { headers: key });
    expect(reply.startsWith('200')).toBe(may);
    if (!may) expect(reply).toBe('403 {"detail":"Missing required scope: trade:read"}');
    expect(await answerTo(METADATA, { headers: key })).toBe(FOUND);
  });

  it('is not needed by sessions and the admin secret', async () => {
    expect(await answerTo(HISTORY, { headers: await world.callers.session() })).toMatch(/^200/);
    expect(await answerTo(HISTORY, { headers: admin })).toMatch(/^200/);
  });
});

describe('an invite', () => {
  it('is needed by sessions only, and not on the companion', async () => {
    const { callers } = world;
    const user = await callers.user({ isInvited: false });
    const session = await callers.session(user);
    expect(await answerTo(HISTORY, { headers: session })).toBe('403 {"detail":"Invite required"}');
    expect(await answerTo(HISTORY, { headers: await callers.key(['trade:read'], { user }) })).toMatch(/^200/);
    const marks = '/v1/marks?provider=venue_a&contract_id=x';
    expect(await answerTo(marks, { headers: session, on: 'companion' })).toMatch(/^200/);
  });
});

describe('a revoked key', () => {
  it('is refused within a second', async () => {
    const key = await world.callers.key([]);
    expect(await answerTo(METADATA, { headers: key })).toBe(FOUND);
    await world.ingest.database.pool.query(
      'update identity.api_keys set revoked_at = now() where client_id = $1',
      [key['x-client-id']],
    );
    await eventually(async () => expect(await answerTo(METADATA, { headers: key })).toBe(WRONG), 1_000);
  });
});

describe('routes without credentials', () => {
  const broken = { authorization: 'Bearer x', 'x-client-id': '', 'x-admin-secret': 'x' };

  it('ignore credentials', async () => {
    for (const path of ['/health', '/providers/configs', '/providers/api-access']) {
      expect(await answerTo(path, { headers: broken })).toMatch(/^200/);
    }
  });

  it('refuse bad credentials under /v1', async () => {
    const marks = '/v1/marks?provider=venue_a&contract_id=x';
    expect(await answerTo(marks, { on: 'companion' })).toMatch(/^200/);
    expect(
      await answerTo(marks, { on: 'companion', headers: { 'x-admin-secret': 'x', 'x-api-key': 'y' } }),
    ).toMatch(/^200/);
    expect(await answerTo(marks, { on: 'companion', headers: wrongTriple() })).toBe(WRONG);
    expect(await answerTo(marks, { on: 'companion', headers: { authorization: 'Bearer x' } })).toBe(
      '401 {"detail":"Invalid token - please log in again"}',
    );
  });
});

describe('routes of operators', () => {
  it('do not exist for other callers, with any method and body', async () => {
    const { callers } = world;
    const all: readonly RequestHeaders[] = [
      {},
      await callers.session(),
      await callers.key(['*']),
      { ...(await callers.key(['*'])), ...admin },
      { 'x-admin-secret': 'x' },
      wrongTriple(),
    ];
    for (const headers of all) {
      for (const [method, path] of [
        ['GET', '/admin/ingest'],
        ['PATCH', '/admin/ingest'],
        ['PUT', '/admin/flags/native_pnl_pipeline'],
        ['POST', '/admin/ingest/venue_a/pause'],
        ['POST', '/providers/configs/reload'],
      ] as const) {
        expect(await answerTo(path, { method, headers, body: method === 'GET' ? '' : '[' })).toBe(
          '404 {"detail":"Not Found"}',
        );
      }
    }
    expect(await answerTo('/admin/ingest', { headers: admin })).toMatch(/^200/);
    expect(await answerTo('/admin/ingest', { method: 'PATCH', headers: admin })).toMatch(/^405/);
    expect(await answerTo('/admin/ingest', { headers: { ...admin, authorization: 'Bearer x' } })).toMatch(
      /^200/,
    );
  });
});
