import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiKeyFeed } from '#libs/identity/api-keys/api-key-feed.js';
import type { IssuedKey } from '#libs/identity/api-keys/api-key-service.js';
import {
  enterTrader,
  headersOf,
  newKey,
  newPeer,
  openKeyGateway,
  verdict,
  type KeyGateway,
} from '#libs/identity/api-keys/api-keys.fixture.js';
import type { NewUser } from '#libs/identity/accounts/enrol-users.js';
import { IdentityFeed } from '#libs/identity/revocation/identity-feed.js';
import { AUDIENCE, ISSUER, parseClaims, TOKEN_VERSION } from '#libs/identity/tokens/claims.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { REFUSED, RoleLogins } from '#libs/testing/database/role-logins.js';
import { urlAs } from './database-roles.js';

const DENIED = '42501';

let logins: RoleLogins;
let gateway: KeyGateway;
let trader: NewUser;
let revoked: IssuedKey;

beforeAll(async () => {
  logins = await RoleLogins.open();
  trader = await enterTrader(logins.database.pool);
  const url = urlAs(logins.database.url, 'gateway', logins.passwords.gateway);
  gateway = await openKeyGateway(url, new SystemClock());
  revoked = await newKey(gateway, trader);
  await gateway.keys.service.revoke(trader.accountId, revoked.triple.client_id);
});

afterAll(async () => {
  await gateway.close();
  await logins.close();
});

describe('with the login of gateways', () => {
  it('keys can be created, changed, rotated, used, granted and revoked', async () => {
    const { service, access } = gateway.keys;
    const { triple } = await newKey(gateway, trader);
    const { client_id } = triple;
    expect(verdict(await gateway.ask(headersOf(triple), newPeer()))).toBe('ok');
    expect(await service.change(trader.accountId, client_id, { name: 'other' })).toMatchObject({
      name: 'other',
    });
    const rotated = await service.rotate(trader.accountId, client_id, 0);
    expect(verdict(await gateway.ask(headersOf(triple), newPeer()))).toBe(401);
    expect(verdict(await gateway.ask(headersOf(rotated!.triple), newPeer()))).toBe('ok');
    expect(await service.revokeAny(client_id, () => Promise.resolve())).toBe(true);
    const wide = { name: 'x', scopes: ['*'] };
    expect(await service.grant(trader.accountId, wide, () => Promise.resolve())).toBeDefined();
    for (const enabled of [false, true]) {
      const decision = { provider: 'venue_e', enabled, by: trader.accountId, reason: 'x' };
      await access.set(decision, () => Promise.resolve());
    }
    expect(access.accessOf('venue_e')).toBe('enabled');
  });

  it('failures are counted and forgotten', async () => {
    const peer = newPeer();
    const answers: unknown[] = [];
    for (let count = 0; count < 11; count += 1) {
      answers.push(
        verdict(await gateway.ask({ 'x-client-id': '', 'x-api-key': '', 'x-api-secret': '' }, peer)),
      );
    }
    expect(answers).toEqual([...Array<number>(10).fill(401), 429]);
    await gateway.keys.throttle.forgetOld();
  });

  it.each<[string, (id: string) => string, string]>([
    [
      'a revoked key cannot be restored',
      (id) => `update identity.api_keys set revoked_at = null where client_id = '${id}'`,
      REFUSED,
    ],
    ['the scopes of a key cannot be changed', () => `update identity.api_keys set scopes = '{*}'`, DENIED],
    [
      'the user of a key cannot be changed',
      () => `update identity.api_keys set account_id = gen_random_uuid()`,
      DENIED,
    ],
    ['no key can be deleted', () => `delete from identity.api_keys`, DENIED],
    ['no change can be hidden', () => `update identity.version set api_keys = 1`, DENIED],
    ['no failure can be invented', () => `insert into identity.auth_failures values ('x', now())`, DENIED],
    ['no access decision can be deleted', () => `delete from identity.api_access`, DENIED],
  ])('%s', async (_what, statement, code) => {
    expect(await logins.attempt('gateway', statement(revoked.triple.client_id))).toBe(code);
  });

  it('only gateways count failures', async () => {
    const count = `select identity.count_auth_failure('192.0.2.9')`;
    expect(await logins.attempt('gateway', count)).toBe('done');
    expect(await logins.attempt('owner', count)).toBe(DENIED);
    expect(await logins.attempt('operations', count)).toBe(DENIED);
  });
});

describe('with the login of data', () => {
  it.each([
    `insert into identity.sessions (sid, account_id, created_at, max_until) values (gen_random_uuid(), gen_random_uuid(), now(), now())`,
    `delete from identity.sessions`,
    `delete from identity.revocations`,
    `insert into identity.signing_keys (kid, sealed_private_key, created_at, active_from) values ('k', '', now(), now())`,
    `delete from identity.signing_keys`,
    `update identity.api_keys set revoked_at = null`,
    `update identity.api_access set enabled = true`,
    `select * from identity.login_failures`,
  ])('callers are recognized, and none can be created or changed: %s', async (statement) => {
    expect(await logins.attempt('data', statement)).toBe(DENIED);
  });

  it('accounts are read without the hashes of their passwords', async () => {
    const read = (columns: string): string => `select ${columns} from identity.users`;
    expect(await logins.attempt('data', read('account_id, email, display_name, disabled'))).toBe('done');
    for (const columns of ['password_hash', 'email_key', '*'])
      expect([columns, await logins.attempt('data', read(columns))]).toEqual([columns, DENIED]);
  });

  it('sessions and API keys are recognized', async () => {
    const url = urlAs(logins.database.url, 'data', logins.passwords.data);
    const pool = openPool(url, { applicationName: 'data-login', max: 1 });
    try {
      const feed = new IdentityFeed(pool, []);
      const { accountId } = trader;
      const ids = { sub: accountId, sid: randomUUID(), jti: randomUUID() };
      const claims = parseClaims({ ...ids, iss: ISSUER, aud: AUDIENCE, ver: TOKEN_VERSION, iat: 0, exp: 60 });
      expect(await feed.userOf(accountId)).toMatchObject({ accountId });
      expect(await feed.stateOf(claims!)).toMatchObject({ accountId });
      expect(await feed.standingOf(claims!)).toMatchObject({ is_active: true });
      const changed = await feed.accountsChangedSince(0);
      expect(changed.map((change) => change.accountId)).toContain(accountId);
      const { client_id } = revoked.triple;
      expect(await new ApiKeyFeed(pool).keyOf(client_id)).toMatchObject({ client_id, is_revoked: true });
    } finally {
      await pool.end();
    }
  });
});
