import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { ApiClient, type ApiAnswer } from '#libs/client/api-client.js';
import { eventually } from '#libs/testing/eventually.js';
import { ServiceRecords } from '../books.js';
import { TokenForge } from '../token-forge.js';
import { mustBe, sharedFloor, type Trader, type TradingFloor, verdict } from '../trading-floor.js';

interface Issued {
  readonly access_token: string;
  readonly expires_at: string;
}

type Claims = Readonly<Record<string, unknown>> & {
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
};

const UNAUTHORIZED = '401 unauthorized';
const HOUR_S = 3_600;
/** The longest time until a logout holds everywhere. */
const REVOKED_WITHIN_MS = 1_000;

jest.setTimeout(20_000);

let floor: TradingFloor;
let books: ServiceRecords;
let forge: TokenForge;
let maker: Trader;

beforeAll(async () => {
  floor = await sharedFloor();
  books = new ServiceRecords(floor.cluster);
  forge = await TokenForge.open(floor.cluster, books);
  maker = await floor.newTrader('maker');
}, 60_000);

afterAll(async () => {
  floor.close();
  await books.close();
});

async function login(name: string, api = floor.anybody): Promise<Issued> {
  const body = { email: `${name}@demo.sotto`, password: floor.cluster.file.demo.password };
  return mustBe(200, await api.send<Issued>('POST', '/auth/login', { body }));
}

function me(token: string, api = floor.anybody): Promise<ApiAnswer<{ account_id: string }>> {
  return api.as(token).get('/v1/me');
}

/** A logout holds everywhere within a second. */
function refused(token: string, api: ApiClient | undefined): Promise<void> {
  return eventually(async () => expect(verdict(await me(token, api))).toBe(UNAUTHORIZED), REVOKED_WITHIN_MS);
}

function claimsOf(token: string): Claims {
  return jwt.decode(token) as Claims;
}

function gateways(): ApiClient[] {
  return floor.cluster.file.processes.flatMap(({ url }) => (url === undefined ? [] : [new ApiClient(url)]));
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

describe('the cookie of browsers', () => {
  const ATTRIBUTES = 'HttpOnly; Secure; SameSite=Strict; Path=/';

  it('is set by login and refresh, and cleared by logout', async () => {
    const body = { email: 'maker-2@demo.sotto', password: floor.cluster.file.demo.password };
    const first = await floor.anybody.send<Issued>('POST', '/auth/login', { body });
    const holder = floor.anybody.as(first.body.access_token);
    const second = await holder.send<Issued>('POST', '/auth/refresh');
    for (const { headers, body: issued } of [first, second]) {
      expect(headers['set-cookie']).toEqual([`custody_session_jwt=${issued.access_token}; ${ATTRIBUTES}`]);
    }
    const { headers } = await holder.send('POST', '/auth/logout');
    expect(headers['set-cookie']).toEqual([`custody_session_jwt=; ${ATTRIBUTES}; Max-Age=0`]);
  });
});

describe('a session', () => {
  it('begins with a login, whose token says who it is for and for how long', async () => {
    const { access_token: token, expires_at: expiresAt } = await login(maker.name);
    const { header, payload } = jwt.decode(token, { complete: true })!;
    const claims = payload as Claims;
    expect(header).toMatchObject({ alg: 'RS256', kid: forge.kid });
    expect(claims).toMatchObject({ sub: maker.accountId, ver: 1 });
    expect([claims.sid, claims.jti].every((id) => /^[0-9a-f-]{36}$/.test(id))).toBe(true);
    expect(claims.exp - claims.iat).toBeLessThanOrEqual(24 * HOUR_S);
    expect(Date.parse(expiresAt)).toBe(claims.exp * 1_000);
    const answer = await me(token);
    expect(answer.body).toMatchObject({
      account_id: maker.accountId,
      roles: ['MARKET_MAKER'],
      capabilities: ['auction:create', 'auction:quote'],
      entitled_venues: expect.arrayContaining(['venue_a', 'venue_e']),
    });
  });

  it('does not begin with a wrong password, an unknown address or another spelling of the body', async () => {
    const attempts = [
      { email: `${maker.name}@demo.sotto`, password: 'wrong' },
      { email: 'nobody@demo.sotto', password: floor.cluster.file.demo.password },
    ];
    const answers = [];
    for (const body of attempts) answers.push(await floor.anybody.send('POST', '/auth/login', { body }));
    expect(answers.map(verdict)).toEqual([UNAUTHORIZED, UNAUTHORIZED]);
    expect(answers[0]!.text).toBe(answers[1]!.text);
  });

  it('can be refreshed, and the old token stays valid', async () => {
    const first = await login(maker.name);
    const answer = await floor.anybody.as(first.access_token).send<Issued>('POST', '/auth/refresh');
    const second = mustBe(200, answer);
    expect(claimsOf(second.access_token).sid).toBe(claimsOf(first.access_token).sid);
    expect(claimsOf(second.access_token).jti).not.toBe(claimsOf(first.access_token).jti);
    expect((await me(first.access_token)).status).toBe(200);
    expect((await me(second.access_token)).status).toBe(200);
  });

  it('can be refreshed for four hours after its token has expired, but not past 28 hours of the session', async () => {
    const { access_token: token } = await login(maker.name);
    const claims = claimsOf(token);
    const expired = (seconds: number): string => {
      const exp = nowSeconds() - seconds;
      return forge.sign({ ...claims, jti: randomUUID(), iat: exp - HOUR_S, exp });
    };
    const refresh = (old: string): Promise<ApiAnswer<Issued>> =>
      floor.anybody.as(old).send('POST', '/auth/refresh');
    expect(verdict(await me(expired(1)))).toBe(UNAUTHORIZED);
    expect((await refresh(expired(4 * HOUR_S - 60))).status).toBe(200);
    expect(verdict(await refresh(expired(4 * HOUR_S + 60)))).toBe(UNAUTHORIZED);
    const end =
      'update identity.sessions set created_at = now() - $2::interval, max_until = now() + $3::interval where sid = $1';
    await books.rows(end, [claims.sid, '27 hours', '1 hour']);
    const last = mustBe(200, await refresh(token));
    // Our clock has whole seconds, and the service may round the session's end.
    expect(claimsOf(last.access_token).exp).toBeLessThanOrEqual(nowSeconds() + HOUR_S + 1);
    await books.rows(end, [claims.sid, '29 hours', '-1 hour']);
    expect(verdict(await refresh(token))).toBe(UNAUTHORIZED);
  });

  it('ends token by token with logout, and as a whole with logout-all, on every gateway within a second', async () => {
    const [here, there] = gateways();
    const first = (await login(maker.name, here)).access_token;
    const second = mustBe(200, await here!.as(first).send<Issued>('POST', '/auth/refresh')).access_token;
    const other = (await login(maker.name, there)).access_token;
    for (const token of [first, second, other]) expect((await me(token, there)).status).toBe(200);

    expect((await here!.as(first).send('POST', '/auth/logout')).status).toBe(204);
    expect(verdict(await me(first, here))).toBe(UNAUTHORIZED);
    await refused(first, there);
    expect((await me(second, there)).status).toBe(200);
    expect(verdict(await here!.as(first).send('POST', '/auth/refresh'))).toBe(UNAUTHORIZED);

    expect((await there!.as(second).send('POST', '/auth/logout-all')).status).toBe(204);
    for (const gateway of [here, there]) {
      await refused(second, gateway);
      expect((await me(other, gateway)).status).toBe(200);
    }
    expect(verdict(await here!.as(second).send('POST', '/auth/refresh'))).toBe(UNAUTHORIZED);
  });
});

describe("the caller's identity", () => {
  it.each(['operator-1', 'auditor-1', 'viewer-1'])('%s is shown', async (name) => {
    const { api } = await floor.trader(name);
    const { roles } = mustBe(200, await api.get<{ roles: string[] }>('/v1/me'));
    expect(roles).toEqual([name.split('-')[0]!.toUpperCase()]);
  });
});

describe('a token', () => {
  let good: Claims;

  beforeAll(async () => {
    good = claimsOf((await login(maker.name)).access_token);
  });

  it('that is signed by the service with the right claims is accepted, as the other cases require', async () => {
    expect((await me(forge.sign({ ...good, jti: randomUUID() }))).status).toBe(200);
  });

  const claims: [string, (claims: Claims) => object][] = [
    ['another audience', () => ({ aud: 'other-api' })],
    ['a subject that is not enrolled', () => ({ sub: floor.accountOf('stranger-1') })],
    ['a subject that does not exist', () => ({ sub: randomUUID() })],
    ['an end that has passed', () => ({ iat: nowSeconds() - 100, exp: nowSeconds() - 1 })],
  ];
  it.each(claims)('with %s is refused', async (_, change) => {
    const token = forge.sign({ ...good, jti: randomUUID(), ...change(good) });
    expect(verdict(await me(token))).toBe(UNAUTHORIZED);
  });

  it('of another key, or with changed content, is refused', async () => {
    const { keys } = (await floor.anybody.get<{ keys: Record<string, string>[] }>('/.well-known/jwks.json'))
      .body;
    expect(keys.map(({ kid }) => kid)).toContain(forge.kid);
    expect(keys.flatMap((key) => Object.keys(key))).not.toContain('d');
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
    const [head, , signature] = forge.sign(good).split('.') as [string, string, string];
    const changed = Buffer.from(JSON.stringify({ ...good, sub: floor.accountOf('maker-5') }));
    const forged = [
      forge.sign(good, {}, stranger),
      `${head}.${changed.toString('base64url')}.${signature}`,
      'nonsense',
    ];
    for (const token of forged) expect([token, verdict(await me(token))]).toEqual([token, UNAUTHORIZED]);
  });

  it('comes in the Authorization header and nowhere else', async () => {
    const token = forge.sign({ ...good, jti: randomUUID() });
    const elsewhere: [string, Record<string, string>][] = [
      [`/v1/me?access_token=${token}`, {}],
      ['/v1/me', { cookie: `custody_session_jwt=${token}` }],
      ['/v1/me', { authorization: token }],
      ['/v1/me', { authorization: `Basic ${token}` }],
      ['/v1/me', { 'x-api-key': token }],
    ];
    for (const [path, headers] of elsewhere) {
      expect(verdict(await floor.anybody.get(path, headers))).toBe(UNAUTHORIZED);
    }
  });
});

describe('failed logins', () => {
  const from = (localAddress: string): ApiClient => new ApiClient(floor.cluster.gatewayUrl, { localAddress });
  const attempt = (api: ApiClient, email: string, password = 'wrong'): Promise<string> =>
    api.send('POST', '/auth/login', { body: { email, password } }).then(verdict);

  it('are throttled after ten a minute for an address, whatever the account', async () => {
    const here = from('127.0.0.21');
    const answers = [];
    for (let n = 0; n < 11; n += 1) answers.push(await attempt(here, `nobody-${n}@demo.sotto`));
    expect(answers).toEqual([...Array<string>(10).fill(UNAUTHORIZED), '429 login_rate_limited']);
    const { password } = floor.cluster.file.demo;
    const email = `${maker.name}@demo.sotto`;
    expect(await attempt(here, email, password)).toBe('429 login_rate_limited');
    expect(await attempt(from('127.0.0.22'), email, password)).toBe('200');
  });

  it('are throttled for an email, whatever the address', async () => {
    const other = await floor.newTrader('maker');
    const answers = [];
    for (let n = 0; n < 11; n += 1)
      answers.push(await attempt(from(`127.0.0.${31 + n}`), `${other.name}@demo.sotto`));
    expect(answers).toEqual([...Array<string>(10).fill(UNAUTHORIZED), '429 login_rate_limited']);
  });
});
