import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createHmac, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import jwt from 'jsonwebtoken';
import { ApiClient, type ApiAnswer } from '#libs/client/api-client.js';
import { eventually } from '#libs/testing/eventually.js';
import { Books } from './books.js';
import { TokenForge } from './token-forge.js';
import { mustBe, plainFloor, type TradingFloor, verdict } from './trading-floor.js';

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
/** A logout must hold everywhere by then. */
const REVOKED_WITHIN_MS = 1_000;

jest.setTimeout(20_000);

let floor: TradingFloor;
let books: Books;
let forge: TokenForge;

beforeAll(async () => {
  floor = await plainFloor();
  books = new Books(floor.cluster);
  forge = await TokenForge.open(floor.cluster, books);
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

function claimsOf(token: string): Claims {
  return jwt.decode(token) as Claims;
}

function gateways(): ApiClient[] {
  return floor.cluster.file.processes.flatMap(({ url }) => (url === undefined ? [] : [new ApiClient(url)]));
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

describe('a session', () => {
  it('begins with a login, whose token says who it is for and for how long', async () => {
    const { access_token: token, expires_at: expiresAt } = await login('maker-1');
    const { header, payload } = jwt.decode(token, { complete: true })!;
    const claims = payload as Claims;
    expect(header).toMatchObject({ alg: 'RS256', kid: forge.kid });
    expect(claims).toMatchObject({ sub: floor.accountOf('maker-1'), ver: 1 });
    expect([claims.sid, claims.jti].every((id) => /^[0-9a-f-]{36}$/.test(id))).toBe(true);
    expect(claims.exp - claims.iat).toBeLessThanOrEqual(24 * HOUR_S);
    expect(Date.parse(expiresAt)).toBe(claims.exp * 1_000);
    const answer = await me(token);
    expect(answer.body).toMatchObject({
      account_id: floor.accountOf('maker-1'),
      roles: ['MARKET_MAKER'],
      capabilities: ['auction:create', 'auction:quote'],
      entitled_venues: expect.arrayContaining(['venue_a', 'venue_e']),
    });
  });

  it('does not begin with a wrong password, an unknown address or another spelling of the body', async () => {
    const attempts = [
      { email: 'maker-1@demo.sotto', password: 'wrong' },
      { email: 'nobody@demo.sotto', password: floor.cluster.file.demo.password },
    ];
    const answers = [];
    for (const body of attempts) answers.push(await floor.anybody.send('POST', '/auth/login', { body }));
    expect(answers.map(verdict)).toEqual([UNAUTHORIZED, UNAUTHORIZED]);
    expect(answers[0]!.text).toBe(answers[1]!.text);
  });

  it('goes on with a refresh, which leaves the old token good', async () => {
    const first = await login('maker-2');
    const answer = await floor.anybody.as(first.access_token).send<Issued>('POST', '/auth/refresh');
    const second = mustBe(200, answer);
    expect(claimsOf(second.access_token).sid).toBe(claimsOf(first.access_token).sid);
    expect(claimsOf(second.access_token).jti).not.toBe(claimsOf(first.access_token).jti);
    expect((await me(first.access_token)).status).toBe(200);
    expect((await me(second.access_token)).status).toBe(200);
  });

  it('can be refreshed for four hours after its token has expired, but not past 28 hours of the session', async () => {
    const { access_token: token } = await login('maker-2');
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
    // Whole seconds on our side, and the session's end may be rounded on theirs.
    expect(claimsOf(last.access_token).exp).toBeLessThanOrEqual(nowSeconds() + HOUR_S + 1);
    await books.rows(end, [claims.sid, '29 hours', '-1 hour']);
    expect(verdict(await refresh(token))).toBe(UNAUTHORIZED);
  });

  it('ends token by token with logout, and as a whole with logout-all, on every gateway within a second', async () => {
    const [here, there] = gateways();
    const first = (await login('maker-3', here)).access_token;
    const second = mustBe(200, await here!.as(first).send<Issued>('POST', '/auth/refresh')).access_token;
    const other = (await login('maker-3', there)).access_token;
    for (const token of [first, second, other]) expect((await me(token, there)).status).toBe(200);

    expect((await here!.as(first).send('POST', '/auth/logout')).status).toBe(204);
    expect(verdict(await me(first, here))).toBe(UNAUTHORIZED);
    await sleep(REVOKED_WITHIN_MS);
    expect(verdict(await me(first, there))).toBe(UNAUTHORIZED);
    expect((await me(second, there)).status).toBe(200);
    expect(verdict(await here!.as(first).send('POST', '/auth/refresh'))).toBe(UNAUTHORIZED);

    expect((await there!.as(second).send('POST', '/auth/logout-all')).status).toBe(204);
    await sleep(REVOKED_WITHIN_MS);
    for (const gateway of [here, there]) {
      expect(verdict(await me(second, gateway))).toBe(UNAUTHORIZED);
      expect((await me(other, gateway)).status).toBe(200);
    }
    expect(verdict(await here!.as(second).send('POST', '/auth/refresh'))).toBe(UNAUTHORIZED);

    const pid = floor.cluster.kill('gateway-1');
    await floor.cluster.restartOf('gateway-1', pid);
    for (const token of [first, second]) expect(verdict(await me(token, there))).toBe(UNAUTHORIZED);
    await eventually(async () => expect((await me(other, there)).status).toBe(200));
  });
});

describe('a token', () => {
  let good: Claims;

  beforeAll(async () => {
    good = claimsOf((await login('maker-4')).access_token);
  });

  it('that is signed by the service with the right claims is taken, which the rest relies on', async () => {
    expect((await me(forge.sign({ ...good, jti: randomUUID() }))).status).toBe(200);
  });

  const claims: [string, (claims: Claims) => object][] = [
    ['another issuer', () => ({ iss: 'https://auth.example' })],
    ['no issuer', () => ({ iss: undefined })],
    ['another audience', () => ({ aud: 'other-api' })],
    ['a list of audiences', ({ aud }) => ({ aud: [aud] })],
    ['no audience', () => ({ aud: undefined })],
    ['version 2', () => ({ ver: 2 })],
    ['a version in quotes', () => ({ ver: '1' })],
    ['no version', () => ({ ver: undefined })],
    ['no subject', () => ({ sub: undefined })],
    ['a subject that is not enrolled', () => ({ sub: floor.accountOf('stranger-1') })],
    ['a subject that does not exist', () => ({ sub: randomUUID() })],
    ['no session', () => ({ sid: undefined })],
    ['no id', () => ({ jti: undefined })],
    ['no time of issue', () => ({ iat: undefined })],
    ['a time of issue to come', () => ({ iat: nowSeconds() + 120, exp: nowSeconds() + 240 })],
    ['no end', () => ({ exp: undefined })],
    ['an end that has passed', () => ({ iat: nowSeconds() - 100, exp: nowSeconds() - 1 })],
    ['more than 24 hours', ({ iat }) => ({ exp: iat + 24 * HOUR_S + 1 })],
  ];
  it.each(claims)('with %s is refused', async (_, change) => {
    const token = forge.sign({ ...good, jti: randomUUID(), ...change(good) });
    expect(verdict(await me(token))).toBe(UNAUTHORIZED);
  });

  it('with a signature that is none, symmetric, of another key or of a changed content is refused', async () => {
    const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const content = (alg: string): string =>
      `${encoded({ alg, typ: 'JWT', kid: forge.kid })}.${encoded(good)}`;
    const { keys } = (await floor.anybody.get<{ keys: Record<string, string>[] }>('/.well-known/jwks.json'))
      .body;
    expect(keys.map(({ kid }) => kid)).toContain(forge.kid);
    expect(keys.flatMap((key) => Object.keys(key))).not.toContain('d');
    const jwk = keys.find(({ kid }) => kid === forge.kid)!;
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
    const symmetric = createHmac('sha256', pem).update(content('HS256')).digest('base64url');
    const [head, , signature] = forge.sign(good).split('.') as [string, string, string];
    const forged = [
      `${content('none')}.`,
      `${content('None')}.`,
      `${content('HS256')}.${symmetric}`,
      forge.sign(good, {}, stranger),
      forge.sign(good, { kid: 'unknown' }),
      forge.sign(good, { kid: undefined }),
      `${head}.${encoded({ ...good, sub: floor.accountOf('maker-5') })}.${signature}`,
      `${head}.${encoded(good)}.`,
      'nonsense',
      '',
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

  it('are throttled after ten a minute for an address, whoever they are for', async () => {
    const here = from('127.0.0.21');
    const answers = [];
    for (let n = 0; n < 11; n += 1) answers.push(await attempt(here, `nobody-${n}@demo.sotto`));
    expect(answers).toEqual([...Array<string>(10).fill(UNAUTHORIZED), '429 login_rate_limited']);
    const { password } = floor.cluster.file.demo;
    expect(await attempt(here, 'maker-6@demo.sotto', password)).toBe('429 login_rate_limited');
    expect(await attempt(from('127.0.0.22'), 'maker-6@demo.sotto', password)).toBe('200');
  });

  it('and for an email, wherever they come from', async () => {
    const answers = [];
    for (let n = 0; n < 11; n += 1)
      answers.push(await attempt(from(`127.0.0.${31 + n}`), 'viewer-1@demo.sotto'));
    expect(answers).toEqual([...Array<string>(10).fill(UNAUTHORIZED), '429 login_rate_limited']);
  });
});
