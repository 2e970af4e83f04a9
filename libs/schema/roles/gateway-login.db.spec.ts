import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import type pg from 'pg';
import { AccountAdministration } from '#libs/identity/accounts/account-administration.js';
import type { NewUser } from '#libs/identity/accounts/enrol-users.js';
import { enterUser, logIn, openGateway, PASSWORD, type Gateway } from '#libs/identity/gateway.fixture.js';
import { loginKeys } from '#libs/identity/sessions/login-keys.js';
import { MAX_FAILURES } from '#libs/identity/sessions/login-throttle.js';
import { openPool } from '#libs/platform/postgres.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/test-database.js';
import { allMigrations } from '../all-migrations.js';
import { prepareDatabaseRoles, roleName, urlAs, type RolePasswords } from './database-roles.js';
import { DATABASE_ROLES } from './grants.js';

const PASSWORDS: RolePasswords = { gateway: 'gateway-password', operations: 'operations-password' };
const REFUSED = { code: '23000' };
const DENIED = { code: '42501' };

let database: TestDatabase;
let gateway: Gateway;
/** What somebody does who has the login of gateways. */
let login: pg.Pool;
let operations: pg.Pool;
let administration: AccountAdministration;

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  expect(await prepareDatabaseRoles(database.url, PASSWORDS)).toBe(true);
  const clock = new SystemClock();
  const url = urlAs(database.url, 'gateway', PASSWORDS.gateway!);
  gateway = await openGateway(url, clock);
  login = openPool(url, { applicationName: 'gateway-login', max: 2 });
  operations = openPool(urlAs(database.url, 'operations', PASSWORDS.operations!), {
    applicationName: 'accounts',
    max: 1,
  });
  administration = new AccountAdministration(operations, clock);
});

afterAll(async () => {
  await gateway.close();
  await login.end();
  await operations.end();
  const name = new URL(database.url).pathname.slice(1);
  for (const role of DATABASE_ROLES) {
    await database.pool.query(`drop owned by ${roleName(name, role)}`).catch(() => undefined);
    await database.pool.query(`revoke all on database ${name} from ${roleName(name, role)}`);
  }
  await database.drop();
});

async function somebody(): Promise<{ user: NewUser; token: string; sid: string }> {
  const user = await enterUser(database.pool);
  const token = await logIn(gateway, user);
  const { sid } = jwt.decode(token) as { sid: string };
  await gateway.watch.refresh();
  expect((await gateway.verifier.verify(token)).ok).toBe(true);
  return { user, token, sid };
}

/** Whether the token is good and can be refreshed, for a gateway that has followed all and for one that starts now. */
async function goodFor(token: string): Promise<boolean[]> {
  await gateway.watch.refresh();
  const url = urlAs(database.url, 'gateway', PASSWORDS.gateway!);
  const another = await openGateway(url, new SystemClock());
  try {
    const followed = await gateway.verifier.verify(token);
    const begun = await another.verifier.verify(token);
    return [followed, begun, await another.sessions.refresh(token)].map(({ ok }) => ok);
  } finally {
    await another.close();
  }
}

const NO_LONGER = [false, false, false];

describe('the login of gateways, and what was revoked', () => {
  it('cannot plant an end under a revocation that is to come', async () => {
    const { user, token, sid } = await somebody();
    await login.query(
      `insert into identity.revocations (id, kind, revoked_at, expires_at, version) values ($1, 'SESSION', now(), '2000-01-01', 0)`,
      [sid],
    );
    await administration.changePassword(user.accountId, user.passwordHash);
    await expect(login.query('delete from identity.revocations where id = $1', [sid])).rejects.toMatchObject(
      REFUSED,
    );
    expect(await goodFor(token)).toEqual(NO_LONGER);
  });

  it('cannot let a revocation end sooner by a transaction that was left open', async () => {
    const id = randomUUID();
    const client = await login.connect();
    try {
      await client.query('begin');
      await client.query('select pg_sleep(0.2)');
      await client.query(
        `insert into identity.revocations (id, kind, revoked_at, expires_at) values ($1, 'TOKEN', '2001-01-01', '2001-01-01')`,
        [id],
      );
      const { rows } = await client.query(
        `select revoked_at > now() + interval '0.1 seconds' as revoked, expires_at > now() + interval '28 hours' as ends
         from identity.revocations where id = $1`,
        [id],
      );
      expect(rows).toEqual([{ revoked: true, ends: true }]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it('cannot remove a session that is not over, so that changing the password ends it', async () => {
    const { user, token, sid } = await somebody();
    await expect(login.query('delete from identity.sessions where sid = $1', [sid])).rejects.toMatchObject(
      REFUSED,
    );
    await administration.changePassword(user.accountId, user.passwordHash);
    expect(await goodFor(token)).toEqual(NO_LONGER);
  });

  it('cannot move the end of a session, nor give it to somebody else', async () => {
    const { sid } = await somebody();
    for (const change of [
      `max_until = now() + interval '9 years'`,
      `max_until = now()`,
      'account_id = account_id',
    ])
      await expect(
        login.query(`update identity.sessions set ${change} where sid = $1`, [sid]),
      ).rejects.toMatchObject(DENIED);
  });

  it('keeps the row of a session for as long as its last token can be refreshed, and then no longer', async () => {
    const { sid } = await somebody();
    const endedAgo = async (ago: string): Promise<number | null> => {
      await database.pool.query(
        `update identity.sessions set created_at = now() - interval '2 days', max_until = now() - $2::interval where sid = $1`,
        [sid, ago],
      );
      return (await login.query('delete from identity.sessions where sid = $1', [sid])).rowCount;
    };
    expect([
      await endedAgo('1 second'),
      await endedAgo('3 hours 59 minutes'),
      await endedAgo('4 hours 1 minute'),
    ]).toEqual([0, 0, 1]);
  });

  it('cannot make a session that lasts longer than any may', async () => {
    const { user } = await somebody();
    const { rows } = await login.query(
      `insert into identity.sessions values (gen_random_uuid(), $1, '2998-01-01', '2999-01-01')
       returning created_at <= clock_timestamp() as begun, max_until <= clock_timestamp() + interval '28 hours' as bounded`,
      [user.accountId],
    );
    expect(rows).toEqual([{ begun: true, bounded: true }]);
  });
});

describe('the login of gateways, and failed logins', () => {
  it('cannot lock anybody out for longer than a minute at a time', async () => {
    const user = await enterUser(database.pool);
    const { email } = loginKeys(user.email, undefined);
    await login.query(
      `insert into identity.login_failures (key, failed_at) select $1, '2999-01-01' from generate_series(1, $2)`,
      [email, MAX_FAILURES],
    );
    await database.pool.query(
      `update identity.login_failures set failed_at = failed_at - interval '61 seconds'`,
    );
    await gateway.tidy();
    expect((await database.pool.query('select from identity.login_failures')).rowCount).toBe(0);
    expect(await gateway.logins.login(user.email, PASSWORD, '10.0.0.1')).toMatchObject({ ok: true });
  });
});
