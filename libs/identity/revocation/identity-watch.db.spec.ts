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
      const [here, there] = [await gatewayAt(clock), await gatewayAt(clock)];
      const token = await logIn(here, user);
      const follow = there.verifier.follow(token);
      expect([(await there.verifier.verify(token)).ok, (await follow()).ok]).toEqual([true, true]);
      expect(await here.sessions[how](token)).toEqual({ ok: true });
      expect(await here.verifier.verify(token)).toBe(UNAUTHORIZED);
      const refused = [() => there.verifier.verify(token), follow].map(millisUntilRefused);
      for (const millis of await Promise.all(refused)) expect(millis).toBeLessThan(1_000);
    },
  );

  it('survives a restart', async () => {
    const clock = new SystemClock();
    const before = await gatewayAt(clock);
    const [ended, whole, kept] = [
      await logIn(before, user),
      await logIn(before, user),
      await logIn(before, user),
    ];
    await before.sessions.logout(ended);
    await before.sessions.logoutAll(whole);
    const after = await gatewayAt(clock);
    expect(await after.verifier.verify(ended)).toBe(UNAUTHORIZED);
    expect(await after.verifier.verify(whole)).toBe(UNAUTHORIZED);
    expect((await after.verifier.verify(kept)).ok).toBe(true);
  });

  it('that was missed because the clock ran ahead is found when the clock is corrected', async () => {
    const clock = new HandClock(NOON);
    const [here, there] = [await gatewayAt(new HandClock(NOON)), await gatewayAt(clock)];
    const token = await logIn(here, user);
    clock.setWall(NOON + 10 * 86_400);
    await here.sessions.logout(token);
    await there.watch.refresh();
    clock.setWall(NOON);
    await there.watch.refresh();
    expect(await there.verifier.verify(token)).toBe(UNAUTHORIZED);
  });

  it('is found again after the database is restored from a backup', async () => {
    const clock = new HandClock(NOON);
    const [here, there] = [await gatewayAt(new HandClock(NOON)), await gatewayAt(clock)];
    const token = await logIn(here, user);
    await database.pool.query('update identity.version set revocations = revocations + 1000');
    await there.watch.refresh();
    await database.pool.query('update identity.version set revocations = revocations - 1000');
    await here.sessions.logout(token);
    await there.watch.refresh();
    expect(await there.verifier.verify(token)).toBe(UNAUTHORIZED);
  });
});

describe('a watch without a recent poll', () => {
  it('answers from memory up to its age bound, then asks the database', async () => {
    const clock = new HandClock(NOON);
    const [here, there] = [await gatewayAt(new HandClock(NOON)), await gatewayAt(clock)];
    const token = await logIn(here, user);
    await here.sessions.logout(token);
    clock.passUnnoticed(900);
    expect(there.verifier.verify(token)).toMatchObject({ ok: true });
    clock.passUnnoticed(1);
    const asked = there.verifier.verify(token);
    expect(asked).toBeInstanceOf(Promise);
    expect(await asked).toBe(UNAUTHORIZED);
  });

  it('still accepts users that the database knows', async () => {
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
    const asked = gateway.verifier.verify(token);
    clock.setWall(NOON + 86_400);
    expect(await asked).toBe(UNAUTHORIZED);
  });
});

describe('an idle watch', () => {
  const watch = { ...WATCH_DEFAULTS, pollMillis: 10, idlePollMillis: 60_000, maxAgeMillis: 60 };

  it('polls rarely; the first caller is checked by the database and wakes it', async () => {
    const clock = new SystemClock();
    const [here, there] = [await gatewayAt(clock), await gatewayAt(clock, { watch })];
    const [ended, kept] = [await logIn(here, user), await logIn(here, user)];
    await eventually(() => expect(there.watch.isFresh()).toBe(false));
    await here.sessions.logout(ended);
    const asked = there.verifier.verify(ended);
    expect(asked).toBeInstanceOf(Promise);
    expect(await asked).toBe(UNAUTHORIZED);
    await eventually(() => expect(there.watch.isFresh()).toBe(true));
    expect((await there.verifier.verify(kept)).ok).toBe(true);
  });
});

describe('without the database', () => {
  it('all callers are refused once memory is too old, and accepted again when it is back', async () => {
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

  it('no caller waits long if it is silent', async () => {
    const { proxy, url } = await breakable();
    const gateway = await gatewayAt(new SystemClock(), {}, url);
    const token = await logIn(gateway, user);
    proxy.blackhole('to-client');
    await eventually(() => expect(gateway.watch.isFresh()).toBe(false));
    const began = performance.now();
    expect(await gateway.verifier.verify(token)).toBe(UNAVAILABLE);
    expect(performance.now() - began).toBeLessThan(1_500);
  });

  it('logins, refreshes and logouts report that', async () => {
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

describe('more revocations than memory may hold', () => {
  const watch = { ...WATCH_DEFAULTS, maxRevocations: 3 };

  it('are looked up in the database, until they fit again', async () => {
    const clock = new HandClock(NOON + 100 * 86_400);
    const [here, there] = [await gatewayAt(clock), await gatewayAt(clock, { watch })];
    const tokens = await Promise.all(Array.from({ length: 5 }, () => logIn(here, user)));
    for (const token of tokens.slice(1)) await here.sessions.logout(token);
    await there.watch.refresh();
    const [kept, revoked] = [there.verifier.verify(tokens[0]!), there.verifier.verify(tokens[4]!)];
    expect(kept).toBeInstanceOf(Promise);
    expect(await kept).toMatchObject({ ok: true });
    expect(await revoked).toBe(UNAUTHORIZED);

    await database.pool.query('delete from identity.revocations where expires_at > to_timestamp($1)', [
      NOON + 90 * 86_400,
    ]);
    clock.passUnnoticed(60_000);
    await there.watch.refresh();
    expect(there.verifier.verify(tokens[0]!)).toMatchObject({ ok: true });
  });
});
