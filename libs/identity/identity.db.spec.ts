import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { AccountAdministration } from './accounts/account-administration.js';
import {
  AUCTIONS,
  LIBRARY,
  NOON,
  PASSWORD,
  enterStranger,
  enterUser,
  logIn,
  openGateway,
  type Gateway,
} from './gateway.fixture.js';
import { HandClock } from './hand-clock.fixture.js';
import { identityMigrations } from './migrations/list.js';
import type { Principal } from './principal.js';
import type { TokenVerifier } from './tokens/token-verifier.js';

let database: TestDatabase;
let clock: HandClock;
let gateway: Gateway;
let administration: AccountAdministration;
let followed: Map<string, ReturnType<TokenVerifier['follow']>>;

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
});

afterAll(() => database.drop());

beforeEach(async () => {
  clock = new HandClock(NOON);
  gateway = await openGateway(database.url, clock);
  administration = new AccountAdministration(database.pool, clock, AUCTIONS);
  followed = new Map();
});

afterEach(() => gateway.close());

/** A second verifier that follows the token from the start must agree at every moment. */
async function principalOf(token: string): Promise<Principal | undefined> {
  await gateway.watch.refresh();
  const verify = followed.get(token) ?? gateway.verifier.follow(token);
  followed.set(token, verify);
  const verification = await gateway.verifier.verify(token);
  expect(await verify()).toBe(verification);
  return verification.ok ? verification.principal : undefined;
}

describe('a verified token', () => {
  it('gives the principal of the enrolled account', async () => {
    const user = await enterUser(database.pool, { enrolment: { roles: ['ORIGINATOR', 'VIEWER'] } });
    const token = await logIn(gateway, user);
    expect(await principalOf(token)).toEqual({
      accountId: user.accountId,
      email: user.email,
      displayName: user.displayName,
      roles: new Set(['ORIGINATOR', 'VIEWER']),
      capabilities: new Set(['auction:create', 'auction:quote']),
      sid: expect.any(String),
      jti: expect.any(String),
      expiresAt: NOON + 86_398,
    });
  });

  it('has exactly the specified claims', async () => {
    const user = await enterUser(database.pool);
    const token = await logIn(gateway, user);
    const { header, payload } = jwt.decode(token, { complete: true })!;
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: gateway.keys.jwks()?.keys[0]?.kid });
    expect(payload).toEqual({
      iss: 'https://auth.sotto.exchange',
      aud: 'sotto-api',
      ver: 1,
      sub: user.accountId,
      sid: expect.any(String),
      jti: expect.any(String),
      email: user.email,
      iat: NOON - 2,
      exp: NOON + 86_398,
    });
  });

  it('gives the same principal while nothing has changed', async () => {
    const token = await logIn(gateway, await enterUser(database.pool));
    const before = await principalOf(token);
    expect(gateway.verifier.verify(token)).toEqual({ ok: true, principal: before });
    expect(await principalOf(token)).toBe(before);
  });

  it('has no capability that the enrolment lacks', async () => {
    const viewer = await enterUser(database.pool, { enrolment: { roles: ['VIEWER'], capabilities: [] } });
    const principal = await principalOf(await logIn(gateway, viewer));
    expect(principal?.capabilities).toEqual(new Set());
  });

  it('follows changes of the enrolment', async () => {
    const user = await enterUser(database.pool);
    const token = await logIn(gateway, user);
    expect((await principalOf(token))?.roles).toEqual(new Set(['MARKET_MAKER']));
    await administration.enrol(user.accountId, ['OPERATOR'], ['auction:quote']);
    const changed = await principalOf(token);
    expect(changed?.roles).toEqual(new Set(['OPERATOR']));
    expect(changed?.capabilities).toEqual(new Set(['auction:quote']));
  });

  it('gives the same account in each service, with its roles and capabilities there', async () => {
    const user = await enterUser(database.pool);
    const token = await logIn(gateway, user);
    const inLibrary = gateway.verifierOf(LIBRARY.service);
    expect(await inLibrary.verify(token)).toEqual({ ok: false, reason: 'unauthorized' });
    await new AccountAdministration(database.pool, clock, LIBRARY).enrol(user.accountId, ['READER'], []);
    await gateway.watch.refresh();
    expect(await inLibrary.verify(token)).toMatchObject({
      ok: true,
      principal: { accountId: user.accountId, roles: new Set(['READER']), capabilities: new Set() },
    });
    expect((await principalOf(token))?.roles).toEqual(new Set(['MARKET_MAKER']));
    await administration.endEnrolment(user.accountId);
    expect(await principalOf(token)).toBeUndefined();
    expect(await inLibrary.verify(token)).toMatchObject({ ok: true });
  });

  it('is refused from the second of its expiry on', async () => {
    const token = await logIn(gateway, await enterUser(database.pool));
    clock.setWall(NOON + 86_397);
    expect(await principalOf(token)).toBeDefined();
    clock.setWall(NOON + 86_398);
    expect(await principalOf(token)).toBeUndefined();
  });

  it('is accepted if its gateway has a clock up to two seconds ahead, and not more', async () => {
    const token = await logIn(gateway, await enterUser(database.pool));
    clock.setWall(NOON - 2);
    expect(await principalOf(token)).toBeDefined();
    clock.setWall(NOON - 3);
    expect(await principalOf(token)).toBeUndefined();
  });
});

describe('a refused subject', () => {
  it('is a user without an enrolment, although it can log in', async () => {
    const stranger = await enterStranger(database.pool);
    const token = await logIn(gateway, stranger);
    expect(await principalOf(token)).toBeUndefined();
    await administration.enrol(stranger.accountId, ['VIEWER'], []);
    expect(await principalOf(token)).toBeDefined();
  });

  it('is a user whose enrolment has ended', async () => {
    const user = await enterUser(database.pool);
    const token = await logIn(gateway, user);
    expect(await principalOf(token)).toBeDefined();
    await administration.endEnrolment(user.accountId);
    expect(await principalOf(token)).toBeUndefined();
  });

  it('is a disabled user; its sessions stay ended after it is enabled again', async () => {
    const user = await enterUser(database.pool);
    const token = await logIn(gateway, user);
    expect(await principalOf(token)).toBeDefined();
    await administration.disable(user.accountId);
    expect(await principalOf(token)).toBeUndefined();
    expect(await gateway.sessions.refresh(token)).toEqual({ ok: false, reason: 'unauthorized' });
    await administration.enable(user.accountId);
    expect(await principalOf(token)).toBeUndefined();
    expect(await principalOf(await logIn(gateway, user))).toBeDefined();
  });

  it('is a user that was disabled directly in the database', async () => {
    const user = await enterUser(database.pool);
    const token = await logIn(gateway, user);
    await database.pool.query('update identity.users set disabled = true where account_id = $1', [
      user.accountId,
    ]);
    expect(await principalOf(token)).toBeUndefined();
    expect(await gateway.sessions.refresh(token)).toEqual({ ok: false, reason: 'unauthorized' });
  });

  it('is an unknown subject', async () => {
    const { accountId } = await enterUser(database.pool, { email: 'leaver@test.sotto' });
    const result = await gateway.logins.login('leaver@test.sotto', PASSWORD, '10.0.0.1');
    const token = result.ok ? result.access_token : '';
    expect(await principalOf(token)).toBeDefined();
    for (const table of ['enrolments', 'sessions', 'users']) {
      await database.pool.query(`delete from identity.${table} where account_id = $1`, [accountId]);
    }
    expect(await principalOf(token)).toBeUndefined();
  });
});
