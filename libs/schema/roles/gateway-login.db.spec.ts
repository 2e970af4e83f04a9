import jwt from 'jsonwebtoken';
import type pg from 'pg';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountAdministration } from '#libs/identity/accounts/account-administration.js';
import type { NewUser } from '#libs/identity/accounts/enrol-users.js';
import {
  AUCTIONS,
  enterUser,
  type Gateway,
  logIn,
  openGateway,
  PASSWORD,
} from '#libs/identity/gateway.fixture.js';
import { loginKeys } from '#libs/identity/sessions/login-service.js';
import { MAX_FAILURES } from '#libs/identity/sessions/login-throttle.js';
import { Halts } from '#libs/auction/admission/policy/halts.js';
import { OperatorActions } from '#libs/auction/admission/policy/operator-actions.js';
import type { Halt } from '#libs/auction/admission/policy/policy-snapshot.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { allMigrations } from '../all-migrations.js';
import { prepareDatabaseRoles, type RolePasswords, urlAs } from './database-roles.js';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';

const PASSWORDS: RolePasswords = { gateway: 'gateway-password', operations: 'operations-password' };
const REFUSED = { code: '23000' };
const DENIED = { code: '42501' };

let database: TestDatabase;
let gateway: Gateway;
/** A connection with the login of gateways, as an intruder would use it. */
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
  administration = new AccountAdministration(operations, clock, AUCTIONS);
});

afterAll(async () => {
  await gateway.close();
  await login.end();
  await operations.end();
  await dropWithRoles(database);
});

async function loggedInUser(): Promise<{ user: NewUser; token: string; sid: string }> {
  const user = await enterUser(database.pool);
  const token = await logIn(gateway, user);
  const { sid } = jwt.decode(token) as { sid: string };
  await gateway.watch.refresh();
  expect((await gateway.verifier.verify(token)).ok).toBe(true);
  return { user, token, sid };
}

/** Whether the token is valid and can be refreshed, for a gateway that has followed all changes and for one that starts now. */
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

describe('revocations, with the login of gateways', () => {
  it('cannot be prepared with an early end before the real revocation comes', async () => {
    const { user, token, sid } = await loggedInUser();
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

  it('cannot end sooner because of a transaction that was left open', async () => {
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
        `select revoked_at > now() + interval '0.1 seconds' as revoked, expires_at > now() + interval '29 hours 0.1 seconds' as ends
         from identity.revocations where id = $1`,
        [id],
      );
      expect(rows).toEqual([{ revoked: true, ends: true }]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it('take effect, because a session that has not expired cannot be removed before its password changes', async () => {
    const { user, token, sid } = await loggedInUser();
    await expect(login.query('delete from identity.sessions where sid = $1', [sid])).rejects.toMatchObject(
      REFUSED,
    );
    await administration.changePassword(user.accountId, user.passwordHash);
    expect(await goodFor(token)).toEqual(NO_LONGER);
  });

  it('of a session stay effective: its end and its account cannot be changed', async () => {
    const { sid } = await loggedInUser();
    for (const change of [
      `max_until = now() + interval '9 years'`,
      `max_until = now()`,
      'account_id = account_id',
    ])
      await expect(
        login.query(`update identity.sessions set ${change} where sid = $1`, [sid]),
      ).rejects.toMatchObject(DENIED);
  });

  it('need the row of a session, which stays until its last token can no longer be refreshed', async () => {
    const { sid } = await loggedInUser();
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

  it('are not escaped by a session that lasts longer than allowed', async () => {
    const { user } = await loggedInUser();
    const { rows } = await login.query(
      `insert into identity.sessions values (gen_random_uuid(), $1, '2998-01-01', '2999-01-01')
       returning created_at <= clock_timestamp() as begun, max_until <= clock_timestamp() + interval '28 hours' as bounded`,
      [user.accountId],
    );
    expect(rows).toEqual([{ begun: true, bounded: true }]);
  });
});

describe('failed logins, with the login of gateways', () => {
  it('cannot lock a user out for longer than a minute at a time', async () => {
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

describe('the log of operators, with the login of gateways', () => {
  const BOOK = `control.operator_actions (action_id, operator, action, target, halt, request_id, outcome)`;
  const OPERATOR = 'operator-1';

  async function imposed(): Promise<Halt> {
    const halt: Halt = {
      halt_id: randomUUID(),
      scope: 'GLOBAL',
      what: ['QUOTE'],
      reason: 'drill',
      by: OPERATOR,
      created_at: '2001-01-01T00:00:00.000000000Z',
    };
    const result = await new Halts(login).impose(halt, 'request-1');
    if (!result.ok) throw new Error(result.fault);
    return result.halt;
  }

  async function together(...statements: string[]): Promise<void> {
    const client = await login.connect();
    try {
      await client.query('begin');
      for (const statement of statements) await client.query(statement);
      await client.query('commit');
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  function entry(haltId: string, operator = OPERATOR, outcome = 'DONE'): string {
    return `insert into ${BOOK} values (gen_random_uuid(), '${operator}', 'LIFT_HALT', '${haltId}', '{}', 'r', '${outcome}')`;
  }

  function lifted(haltId: string): string {
    return `update control.halts set lifted_by = '${OPERATOR}', lifted_at = '2001-01-01' where halt_id = '${haltId}'`;
  }

  it.each([
    [
      'the number of an entry',
      `insert into control.operator_actions (entry, action_id, operator, action, target, halt, request_id, outcome) overriding system value
       values (-7, gen_random_uuid(), 'o', 'LIFT_HALT', 'h', '{}', 'r', 'DONE')`,
    ],
    [
      'the time of an entry',
      `insert into control.operator_actions (action_id, operator, action, target, halt, request_id, outcome, at)
       values (gen_random_uuid(), 'o', 'LIFT_HALT', 'h', '{}', 'r', 'DONE', '2001-01-01')`,
    ],
    [
      'the number of a read',
      `insert into audit.reads (read_id, reader_id, request_id, gateway, what, auction_ids, status) overriding system value
       values (1, gen_random_uuid(), 'r', 'g', 'LIST', '{}', 200)`,
    ],
    [
      'the time of a read',
      `insert into audit.reads (read_at, reader_id, request_id, gateway, what, auction_ids, status)
       values ('2001-01-01', gen_random_uuid(), 'r', 'g', 'LIST', '{}', 200)`,
    ],
    ['which number comes next', `select setval('control.operator_actions_entry_seq', 1)`],
    ['which number of a read comes next', `select nextval('audit.reads_read_id_seq')`],
    [
      'that a halt was lifted as soon as it was imposed',
      `insert into control.halts (halt_id, scope, what, reason, created_by, created_at, lifted_by, lifted_at)
       values (gen_random_uuid(), 'GLOBAL', '{QUOTE}', 'r', 'o', now(), 'o', now())`,
    ],
  ])('does not let it set %s', async (_what, statement) => {
    await expect(login.query(statement)).rejects.toMatchObject(DENIED);
  });

  it('lifts a halt only with an entry at its end, with the time of the database', async () => {
    const halt = await imposed();
    const actions = new OperatorActions(login);
    const [before] = await actions.page(1);
    expect(before).toMatchObject({ action: 'IMPOSE_HALT', target: halt.halt_id });
    await together(lifted(halt.halt_id), entry(halt.halt_id));
    const [last] = await actions.page(1);
    expect(last).toMatchObject({ action: 'LIFT_HALT', target: halt.halt_id });
    const { rows } = await login.query(
      `select created_at > now() - interval '1 minute' as imposed, lifted_at > created_at as lifted
       from control.halts where halt_id = $1`,
      [halt.halt_id],
    );
    expect(rows).toEqual([{ imposed: true, lifted: true }]);
  });

  it('does not lift a halt by an earlier entry, an entry of another operator, or an action that was not done', async () => {
    const { halt_id: id } = await imposed();
    await together(entry(id));
    await expect(together(lifted(id))).rejects.toMatchObject(REFUSED);
    await expect(together(lifted(id), entry(id, 'operator-2'))).rejects.toMatchObject(REFUSED);
    await expect(together(lifted(id), entry(id, OPERATOR, 'ASKED'))).rejects.toMatchObject(REFUSED);
    await together(lifted(id), entry(id));
  });
});
