import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { openProxy, type TcpProxy } from '#libs/testing/network/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { NewUser } from '../accounts/enrol-users.js';
import { enterUser, logIn, NOON, openGateway, type Gateway } from '../gateway.fixture.js';
import { HandClock } from '../hand-clock.fixture.js';
import type { IdentitySettings } from '../identity.js';
import { identityMigrations } from '../migrations/list.js';
import { UNAUTHORIZED, UNAVAILABLE, type Verification } from '../principal.js';
import { WATCH_DEFAULTS } from './identity-watch.js';

let database: TestDatabase;
let user: NewUser;
const opened: Gateway[] = [];
const proxies: TcpProxy[] = [];

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
  user = await enterUser(database.pool);
});

afterEach(async () => {
  // The proxies first: a closing gateway waits for silent connections.
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
});

afterAll(() => database.drop());

async function gatewayAt(
  clock: Clock,
  settings: Partial<IdentitySettings> = {},
  url: string = database.url,
): Promise<Gateway> {
  const gateway = await openGateway(url, clock, settings);
  opened.push(gateway);
  return gateway;
}

/** A connection to the database that the test can break. */
async function breakable(): Promise<{ readonly proxy: TcpProxy; readonly url: string }> {
  const url = new URL(database.url);
  const proxy = await openProxy({ target: { host: url.hostname, port: Number(url.port) } });
  proxies.push(proxy);
  url.host = `127.0.0.1:${proxy.port}`;
  return { proxy, url: url.href };
}

async function millisUntilRefused(verify: () => Verification | Promise<Verification>): Promise<number> {
  const began = performance.now();
  while ((await verify()).ok) {
    if (performance.now() - began > 5_000) throw new Error('it is still accepted');
    await sleep(5);
  }
  return performance.now() - began;
}

describe('a revocation', () => {
  it.each(['logout', 'logoutAll'] as const)(
    'by %s takes effect on another gateway within a second',
    async (how) => {
      const clock = new SystemClock();
      const [gateway, other] = [await gatewayAt(clock), await gatewayAt(clock)];
      const token = await logIn(gateway, user);
      const follow = other.verifier.follow(token);
      expect([(await other.verifier.verify(token)).ok, (await follow()).ok]).toEqual([true, true]);
      expect(await gateway.sessions[how](token)).toEqual({ ok: true });
      expect(await gateway.verifier.verify(token)).toBe(UNAUTHORIZED);
      const refused = [() => other.verifier.verify(token), follow].map(millisUntilRefused);
      for (const millis of await Promise.all(refused)) expect(millis).toBeLessThan(1_000);
    },
  );

  it('is still effective after a restart', async () => {
    const clock = new SystemClock();
    const before = await gatewayAt(clock);
    const [ended, endedSession, kept] = [
      await logIn(before, user),
      await logIn(before, user),
      await logIn(before, user),
    ];
    await before.sessions.logout(ended);
    await before.sessions.logoutAll(endedSession);
    const after = await gatewayAt(clock);
    expect(await after.verifier.verify(ended)).toBe(UNAUTHORIZED);
    expect(await after.verifier.verify(endedSession)).toBe(UNAUTHORIZED);
    expect((await after.verifier.verify(kept)).ok).toBe(true);
  });

  it('missed while the clock was ahead takes effect when the clock is corrected', async () => {
    const clock = new HandClock(NOON);
    const [gateway, other] = [await gatewayAt(new HandClock(NOON)), await gatewayAt(clock)];
    const token = await logIn(gateway, user);
    clock.setWall(NOON + 10 * 86_400);
    await gateway.sessions.logout(token);
    await other.watch.refresh();
    clock.setWall(NOON);
    await other.watch.refresh();
    expect(await other.verifier.verify(token)).toBe(UNAUTHORIZED);
  });

  it('takes effect after the database was restored from a backup', async () => {
    const clock = new HandClock(NOON);
    const [gateway, other] = [await gatewayAt(new HandClock(NOON)), await gatewayAt(clock)];
    const token = await logIn(gateway, user);
    await database.pool.query('update identity.version set revocations = revocations + 1000');
    await other.watch.refresh();
    await database.pool.query('update identity.version set revocations = revocations - 1000');
    await gateway.sessions.logout(token);
    await other.watch.refresh();
    expect(await other.verifier.verify(token)).toBe(UNAUTHORIZED);
  });
});

describe('a watch without a recent poll', () => {
  it('answers from memory up to its age bound, and then from the database', async () => {
    const clock = new HandClock(NOON);
    const [gateway, other] = [await gatewayAt(new HandClock(NOON)), await gatewayAt(clock)];
    const token = await logIn(gateway, user);
    await gateway.sessions.logout(token);
    clock.passUnnoticed(900);
    expect(other.verifier.verify(token)).toMatchObject({ ok: true });
    clock.passUnnoticed(1);
    const verification = other.verifier.verify(token);
    expect(verification).toBeInstanceOf(Promise);
    expect(await verification).toBe(UNAUTHORIZED);
  });

  it('accepts users by looking them up in the database', async () => {
    const clock = new HandClock(NOON);
    const gateway = await gatewayAt(clock);
    const token = await logIn(gateway, user);
    clock.passUnnoticed(10_000);
    expect(gateway.watch.isFresh()).toBe(false);
    expect(await gateway.verifier.verify(token)).toMatchObject({
      ok: true,
      principal: { accountId: user.accountId, roles: new Set(['MARKET_MAKER']) },
    });
  });

  it('refuses a token that expires during the query', async () => {
    const clock = new HandClock(NOON);
    const gateway = await gatewayAt(clock);
    const token = await logIn(gateway, user);
    clock.passUnnoticed(10_000);
    const verification = gateway.verifier.verify(token);
    clock.setWall(NOON + 86_400);
    expect(await verification).toBe(UNAUTHORIZED);
  });
});

describe('an idle watch', () => {
  const watch = { ...WATCH_DEFAULTS, pollMillis: 10, idlePollMillis: 60_000, maxAgeMillis: 60 };

  it('polls rarely; the first caller is checked in the database and makes it poll again', async () => {
    const clock = new SystemClock();
    const [gateway, other] = [await gatewayAt(clock), await gatewayAt(clock, { watch })];
    const [ended, kept] = [await logIn(gateway, user), await logIn(gateway, user)];
    await eventually(() => expect(other.watch.isFresh()).toBe(false));
    await gateway.sessions.logout(ended);
    const verification = other.verifier.verify(ended);
    expect(verification).toBeInstanceOf(Promise);
    expect(await verification).toBe(UNAUTHORIZED);
    await eventually(() => expect(other.watch.isFresh()).toBe(true));
    expect((await other.verifier.verify(kept)).ok).toBe(true);
  });
});

describe('without the database', () => {
  it('all callers are refused once cached data is too old, and accepted when it is back', async () => {
    const { proxy, url } = await breakable();
    const gateway = await gatewayAt(new SystemClock(), {}, url);
    const token = await logIn(gateway, user);
    expect((await gateway.verifier.verify(token)).ok).toBe(true);
    proxy.cut();
    proxy.refuse();
    await eventually(() => expect(gateway.watch.isFresh()).toBe(false));
    expect(await gateway.verifier.verify(token)).toBe(UNAVAILABLE);
    expect(await gateway.verifier.verify('garbage')).toBe(UNAUTHORIZED);
    proxy.heal();
    await eventually(() => expect(gateway.verifier.verify(token)).toMatchObject({ ok: true }));
  });

  it('no caller waits long if it does not answer', async () => {
    const { proxy, url } = await breakable();
    const gateway = await gatewayAt(new SystemClock(), {}, url);
    const token = await logIn(gateway, user);
    proxy.blackhole('to-client');
    await eventually(() => expect(gateway.watch.isFresh()).toBe(false));
    const began = performance.now();
    expect(await gateway.verifier.verify(token)).toBe(UNAVAILABLE);
    expect(performance.now() - began).toBeLessThan(1_500);
  });

  it('logins, refreshes and logouts are refused as unavailable', async () => {
    const { proxy, url } = await breakable();
    const gateway = await gatewayAt(new SystemClock(), {}, url);
    const token = await logIn(gateway, user);
    proxy.cut();
    proxy.refuse();
    const unavailable = { ok: false, reason: 'unavailable' };
    expect(await gateway.logins.login(user.email, 'x', '10.0.0.9')).toEqual(unavailable);
    expect(await gateway.sessions.refresh(token)).toEqual(unavailable);
    expect(await gateway.sessions.logout(token)).toEqual(unavailable);
    expect(await gateway.sessions.logoutAll(token)).toEqual(unavailable);
  });
});

describe('more revocations than may be kept in memory', () => {
  const watch = { ...WATCH_DEFAULTS, maxRevocations: 3 };

  it('are looked up in the database, until they fit again', async () => {
    const clock = new HandClock(NOON + 100 * 86_400);
    const [gateway, other] = [await gatewayAt(clock), await gatewayAt(clock, { watch })];
    const tokens = await Promise.all(Array.from({ length: 5 }, () => logIn(gateway, user)));
    for (const token of tokens.slice(1)) await gateway.sessions.logout(token);
    await other.watch.refresh();
    const [kept, revoked] = [other.verifier.verify(tokens[0]!), other.verifier.verify(tokens[4]!)];
    expect(kept).toBeInstanceOf(Promise);
    expect(await kept).toMatchObject({ ok: true });
    expect(await revoked).toBe(UNAUTHORIZED);

    await database.pool.query('delete from identity.revocations where expires_at > to_timestamp($1)', [
      NOON + 90 * 86_400,
    ]);
    clock.passUnnoticed(60_000);
    await other.watch.refresh();
    expect(other.verifier.verify(tokens[0]!)).toMatchObject({ ok: true });
  });
});
