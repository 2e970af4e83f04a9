import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { identityMigrations } from '../migrations/list.js';
import { AUCTIONS, LIBRARY } from '../gateway.fixture.js';
import { enrolUsers, type NewUser } from './enrol-users.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
});

afterAll(() => database.drop());

function person(name: string, roles: readonly string[] | undefined): NewUser {
  return {
    accountId: randomUUID(),
    email: `${name}@test.sotto`,
    displayName: `${name} Ltd`,
    passwordHash: 'never checked here',
    ...(roles === undefined ? {} : { enrolment: { roles } }),
  };
}

async function enrolled(users: readonly NewUser[]): Promise<number> {
  const ids = users.map(({ accountId }) => accountId);
  const { rowCount } = await database.pool.query(
    `select from identity.enrolments where service = 'AUCTION' and account_id = any($1)`,
    [ids],
  );
  return rowCount ?? 0;
}

describe('entering users', () => {
  it('accepts hundreds at once, and can be repeated', async () => {
    const users = Array.from({ length: 600 }, (_, number) => person(`load-${number}`, ['MARKET_MAKER']));
    await enrolUsers(database.pool, users, AUCTIONS);
    await enrolUsers(database.pool, users, AUCTIONS);
    expect(await enrolled(users)).toBe(600);
  });

  it('does not undo later changes when it is repeated', async () => {
    const user = person('changed', ['MARKET_MAKER']);
    await enrolUsers(database.pool, [user], AUCTIONS);
    await database.pool.query(`delete from identity.enrolments where account_id = $1`, [user.accountId]);
    await database.pool.query(`update identity.users set password_hash = 'newer' where account_id = $1`, [
      user.accountId,
    ]);
    await enrolUsers(database.pool, [user], AUCTIONS);
    expect(await enrolled([user])).toBe(0);
    const { rows } = await database.pool.query(
      'select password_hash from identity.users where account_id = $1',
      [user.accountId],
    );
    expect(rows).toEqual([{ password_hash: 'newer' }]);
  });

  it('refuses an e-mail address of another user in any spelling, and then enters no user at all', async () => {
    const [taken, innocent] = [person('taken', ['VIEWER']), person('innocent', ['VIEWER'])];
    await enrolUsers(database.pool, [taken], AUCTIONS);
    const again = { ...person('x', ['VIEWER']), email: 'TAKEN@test.sotto' };
    await expect(enrolUsers(database.pool, [innocent, again], AUCTIONS)).rejects.toThrow(
      'users_email_key_key',
    );
    expect(await enrolled([innocent])).toBe(0);
  });

  it('refuses invalid e-mail addresses, and roles and capabilities that the service does not know', async () => {
    await expect(enrolUsers(database.pool, [{ ...person('x', []), email: '' }], AUCTIONS)).rejects.toThrow(
      'e-mail',
    );
    await expect(enrolUsers(database.pool, [person('king', ['KING'])], AUCTIONS)).rejects.toThrow(
      'AUCTION knows no KING',
    );
    await expect(enrolUsers(database.pool, [person('king', ['OPERATOR'])], LIBRARY)).rejects.toThrow(
      'LIBRARY knows no OPERATOR',
    );
    const wildcard = { ...person('m', undefined), enrolment: { roles: [], capabilities: ['*'] } };
    await expect(enrolUsers(database.pool, [wildcard], AUCTIONS)).rejects.toThrow('AUCTION knows no *');
  });
});
