import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NewUser } from '../accounts/enrol-users.js';
import { AccountAdministration } from '../accounts/account-administration.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { AUCTIONS, CHEAP, NOON, PASSWORD, enterUser, openGateway, type Gateway } from '../gateway.fixture.js';
import { HandClock } from '../hand-clock.fixture.js';
import { identityMigrations } from '../migrations/list.js';
import { LoginQueue } from '../passwords/login-queue.js';
import { PasswordCheck } from '../passwords/password-check.js';
import { deriveKey, type Derive } from '../passwords/derive.js';
import { LoginService } from './login-service.js';
import { LoginThrottle } from './login-throttle.js';
import type { LoginResult } from './outcomes.js';
import { SessionStore } from './session-store.js';

const INVALID = { ok: false, reason: 'invalid' };
const THROTTLED = { ok: false, reason: 'throttled' };
const UNAVAILABLE = { ok: false, reason: 'unavailable' };

let database: TestDatabase;
let clock: HandClock;
let gateway: Gateway;
let user: NewUser;

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
});

afterAll(() => database.drop());

beforeEach(async () => {
  clock = new HandClock(NOON);
  gateway = await openGateway(database.url, clock);
  user = await enterUser(database.pool);
  await database.pool.query('delete from identity.login_failures');
});

afterEach(() => gateway.close());

let lastHost = 0;
function newAddress(): string {
  lastHost += 1;
  return `10.1.${lastHost >> 8}.${lastHost & 255}`;
}

function fail(email: string, address: string): Promise<LoginResult> {
  return gateway.logins.login(email, 'wrong', address);
}

async function failTimes(times: number, attempt: () => Promise<LoginResult>): Promise<void> {
  for (let count = 0; count < times; count += 1) expect(await attempt()).toEqual(INVALID);
}

function tally(results: readonly LoginResult[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const result of results) {
    const kind = result.ok ? 'ok' : result.reason;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** A login service that checks no password before `release`. */
function slowLogins(queue: LoginQueue): { readonly logins: LoginService; readonly release: () => void } {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow: Derive = async (...of) => {
    await released;
    return deriveKey(...of);
  };
  const logins = new LoginService(
    new SessionStore(database.pool),
    new LoginThrottle(database.pool, clock),
    new PasswordCheck(CHEAP, slow),
    gateway.sessions,
    queue,
  );
  return { logins, release };
}

describe('a login', () => {
  it('returns a token and its expiry', async () => {
    const result = await gateway.logins.login(user.email, PASSWORD, newAddress());
    expect(result).toEqual({
      ok: true,
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expires_at: '2026-11-22T11:59:58.000000000Z',
    });
  });

  it('accepts the e-mail address in any mix of upper and lower case', async () => {
    const result = await gateway.logins.login(user.email.toUpperCase(), PASSWORD, newAddress());
    expect(result.ok).toBe(true);
  });

  it('opens a new session each time', async () => {
    const [first, second] = [newAddress(), newAddress()];
    await gateway.logins.login(user.email, PASSWORD, first);
    await gateway.logins.login(user.email, PASSWORD, second);
    const { rowCount } = await database.pool.query('select from identity.sessions where account_id = $1', [
      user.accountId,
    ]);
    expect(rowCount).toBe(2);
  });

  it.each([
    ['a wrong password', (): [string, string] => [user.email, 'wrong']],
    ['an unknown address', (): [string, string] => ['unknown@test.sotto', PASSWORD]],
    ['an address that the database cannot store', (): [string, string] => ['\u0000@test.sotto', PASSWORD]],
    ['an endless address', (): [string, string] => ['x'.repeat(500_000), PASSWORD]],
    ['SQL', (): [string, string] => [`' or true --`, PASSWORD]],
  ])('is refused for %s', async (_what, attempt) => {
    const [email, password] = attempt();
    expect(await gateway.logins.login(email, password, newAddress())).toEqual(INVALID);
  });

  it('of a disabled user is refused', async () => {
    await new AccountAdministration(database.pool, clock, AUCTIONS).disable(user.accountId);
    expect(await gateway.logins.login(user.email, PASSWORD, newAddress())).toEqual(INVALID);
  });
});

describe('the throttle', () => {
  it('allows ten failures per minute for one e-mail address, over all networks', async () => {
    await failTimes(10, () => fail(user.email, newAddress()));
    expect(await fail(user.email, newAddress())).toEqual(THROTTLED);
    expect(await gateway.logins.login(user.email, PASSWORD, newAddress())).toEqual(THROTTLED);
  });

  it('allows ten failures per minute from one network, over all users', async () => {
    const address = newAddress();
    let number = 0;
    await failTimes(10, () => fail(`user-${(number += 1)}@test.sotto`, address));
    expect(await fail('another@test.sotto', address)).toEqual(THROTTLED);
    expect(await gateway.logins.login(user.email, PASSWORD, address)).toEqual(THROTTLED);
  });

  it('counts failures of unknown e-mail addresses too', async () => {
    await failTimes(10, () => fail('unknown@test.sotto', newAddress()));
    expect(await fail('Unknown@test.sotto', newAddress())).toEqual(THROTTLED);
  });

  it('does not affect other users and networks', async () => {
    const address = newAddress();
    await failTimes(10, () => fail(user.email, address));
    const other = await enterUser(database.pool);
    expect((await gateway.logins.login(other.email, PASSWORD, newAddress())).ok).toBe(true);
  });

  it('does not count logins that succeed', async () => {
    const address = newAddress();
    for (let count = 0; count < 15; count += 1) {
      expect((await gateway.logins.login(user.email, PASSWORD, address)).ok).toBe(true);
    }
  });

  it('counts in a sliding window', async () => {
    const address = newAddress();
    await failTimes(5, () => fail(user.email, address));
    clock.passUnnoticed(30_000);
    await failTimes(5, () => fail(user.email, address));
    clock.passUnnoticed(29_999);
    expect(await fail(user.email, address)).toEqual(THROTTLED);
    clock.passUnnoticed(1);
    await failTimes(5, () => fail(user.email, address));
    expect(await fail(user.email, address)).toEqual(THROTTLED);
  });

  it('is not prolonged by attempts that it refused', async () => {
    const address = newAddress();
    await failTimes(10, () => fail(user.email, address));
    clock.passUnnoticed(59_000);
    expect(await fail(user.email, address)).toEqual(THROTTLED);
    clock.passUnnoticed(1_000);
    expect((await gateway.logins.login(user.email, PASSWORD, address)).ok).toBe(true);
  });

  it('is exact for many concurrent failures, on two gateways', async () => {
    const second = await openGateway(database.url, clock);
    try {
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, number) =>
          (number % 2 === 0 ? gateway : second).logins.login(user.email, 'wrong', newAddress()),
        ),
      );
      expect(tally(results)).toEqual({ invalid: 10, throttled: 50 });
    } finally {
      await second.close();
    }
  });

  it('is exact for one address and many users at once', async () => {
    const address = newAddress();
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, number) => fail(`user-${number}@test.sotto`, address)),
    );
    expect(tally(results)).toEqual({ invalid: 10, throttled: 30 });
  });

  it('refuses logins as unavailable if the database is out of memory', async () => {
    await database.pool.query(`
      create function public.full() returns trigger language plpgsql as
        $$ begin raise exception 'out of shared memory' using errcode = 'out_of_memory'; end $$;
      create trigger full_up before insert on identity.sessions execute function public.full()`);
    expect(await gateway.logins.login(user.email, PASSWORD, newAddress())).toEqual(UNAVAILABLE);
    await database.pool.query('drop function public.full() cascade');
    expect(await gateway.logins.login(user.email, PASSWORD, newAddress())).toMatchObject({ ok: true });
  });

  it('allows any number of concurrent successful logins', async () => {
    const address = newAddress();
    const results = await Promise.all(
      Array.from({ length: 40 }, () => gateway.logins.login(user.email, PASSWORD, address)),
    );
    expect(tally(results)).toEqual({ ok: 40 });
  });

  it('refuses concurrent attempts beyond the share of an address, with any password', async () => {
    const limits = { atOnce: 1, perEmail: 3, perNetwork: 5, inAll: 6, patienceMillis: 30_000 };
    const { logins, release } = slowLogins(new LoginQueue(clock, limits));
    const network = newAddress();
    const wrong = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) =>
      logins.login(`${name}@test.sotto`, '', network),
    );
    expect(await Promise.race(wrong)).toEqual(THROTTLED);
    const right = [newAddress(), newAddress()].map((address) => logins.login(user.email, PASSWORD, address));
    expect(await Promise.race(right)).toEqual(UNAVAILABLE);
    release();
    expect(tally(await Promise.all(wrong))).toEqual({ invalid: 5, throttled: 1 });
    expect(tally(await Promise.all(right))).toEqual({ ok: 1, unavailable: 1 });
  });

  it('refuses even the right password if the failures were used up during its check', async () => {
    const { logins, release } = slowLogins(new LoginQueue(clock));
    await failTimes(9, () => fail(user.email, newAddress()));
    const right = logins.login(user.email, PASSWORD, newAddress());
    await failTimes(1, () => fail(user.email, newAddress()));
    release();
    expect(await right).toEqual(THROTTLED);
  });

  it('removes failures that are older than its window', async () => {
    await fail(user.email, newAddress());
    clock.passUnnoticed(60_000);
    await gateway.tidy();
    expect((await database.pool.query('select from identity.login_failures')).rowCount).toBe(0);
  });

  it('stores no input of a login', async () => {
    await fail('my-secret-password', newAddress());
    const { rows } = await database.pool.query('select * from identity.login_failures');
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toMatch(/my-secret|10\.1\./);
  });
});
