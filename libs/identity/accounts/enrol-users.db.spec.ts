import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { identityMigrations } from '../migrations/list.js';
import type { Role } from '../principal.js';
import { AccountDirectory } from './account-directory.js';
import { enrolUsers, type NewUser } from './enrol-users.js';

let database: TestDatabase;
let directory: AccountDirectory;

beforeAll(async () => {
  database = await createTestDatabase(identityMigrations);
  directory = new AccountDirectory(database.pool);
});

afterAll(() => database.drop());

function person(name: string, roles: readonly Role[] | undefined): NewUser {
  return {
    accountId: randomUUID(),
    email: `${name}@test.sotto`,
    displayName: `${name} Ltd`,
    passwordHash: 'not asked for here',
    ...(roles === undefined ? {} : { enrolment: { roles } }),
  };
}

describe('entering users', () => {
  it('takes hundreds at once, any number of times', async () => {
    const users = Array.from({ length: 600 }, (_, number) => person(`load-${number}`, ['MARKET_MAKER']));
    await enrolUsers(database.pool, users);
    await enrolUsers(database.pool, users);
    const found = await directory.accounts(users.map(({ accountId }) => accountId));
    expect(found.size).toBe(600);
  });

  it('leaves what has been decided since as it is', async () => {
    const user = person('changed', ['MARKET_MAKER']);
    await enrolUsers(database.pool, [user]);
    await database.pool.query(`delete from identity.enrolments where account_id = $1`, [user.accountId]);
    await database.pool.query(`update identity.users set password_hash = 'newer' where account_id = $1`, [
      user.accountId,
    ]);
    await enrolUsers(database.pool, [user]);
    expect((await directory.accounts([user.accountId])).size).toBe(0);
    const { rows } = await database.pool.query(
      'select password_hash from identity.users where account_id = $1',
      [user.accountId],
    );
    expect(rows).toEqual([{ password_hash: 'newer' }]);
  });

  it('refuses an e-mail address that somebody has, in any spelling, and then enters nobody', async () => {
    const [taken, innocent] = [person('taken', ['VIEWER']), person('innocent', ['VIEWER'])];
    await enrolUsers(database.pool, [taken]);
    const again = { ...person('x', ['VIEWER']), email: 'TAKEN@test.sotto' };
    await expect(enrolUsers(database.pool, [innocent, again])).rejects.toThrow('users_email_key_key');
    expect((await directory.accounts([innocent.accountId])).size).toBe(0);
  });

  it('refuses what is no e-mail address, and roles and capabilities that do not exist', async () => {
    await expect(enrolUsers(database.pool, [{ ...person('x', []), email: '' }])).rejects.toThrow('e-mail');
    const king = { ...person('king', undefined), enrolment: { roles: ['KING'] } } as unknown;
    await expect(enrolUsers(database.pool, [king as NewUser])).rejects.toThrow('roles_check');
    const mighty = { ...person('m', undefined), enrolment: { roles: [], capabilities: ['*'] } } as unknown;
    await expect(enrolUsers(database.pool, [mighty as NewUser])).rejects.toThrow('capabilities_check');
  });
});

describe('the directory', () => {
  it('knows accounts by id, but none that is not enrolled or is disabled', async () => {
    const [known, stranger, disabled] = [
      person('known', ['ORIGINATOR']),
      person('stranger', undefined),
      person('disabled', ['ORIGINATOR']),
    ];
    await enrolUsers(database.pool, [known, stranger, disabled]);
    await database.pool.query('update identity.users set disabled = true where account_id = $1', [
      disabled.accountId,
    ]);
    const ids = [known, stranger, disabled].map(({ accountId }) => accountId);
    const found = await directory.accounts([...ids, randomUUID()]);
    expect([...found.values()]).toEqual([
      {
        accountId: known.accountId,
        email: 'known@test.sotto',
        displayName: 'known Ltd',
        roles: new Set(['ORIGINATOR']),
        capabilities: new Set(['auction:create', 'auction:quote']),
      },
    ]);
  });

  it('lists those of one role by name', async () => {
    await enrolUsers(database.pool, [
      person('zoe', ['AUDITOR', 'VIEWER']),
      person('adam', ['AUDITOR']),
      person('eve', ['OPERATOR']),
    ]);
    const auditors = await directory.withRole('AUDITOR');
    expect(auditors.map(({ displayName }) => displayName)).toEqual(['adam Ltd', 'zoe Ltd']);
  });
});
