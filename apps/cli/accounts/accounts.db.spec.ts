import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadPolicy } from '#libs/auction/admission/policy/load-policy.js';
import { AUCTION_CATALOGUE } from '#libs/auction/protocol/enrolment.js';
import { openIdentity, type Identity } from '#libs/identity/identity.js';
import { LONGEST_LIFETIMES } from '#libs/identity/sessions/session-lifetimes.js';
import type { LoginResult } from '#libs/identity/sessions/outcomes.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { AccountEntry } from './account-service.js';
import { UsageFault } from '#libs/platform/terminal/commands.js';
import { parseCall } from '#libs/platform/terminal/parse-call.js';
import { ACCOUNTS, callOf, type AccountCall } from './call.js';
import { runAccounts } from './run-accounts.js';

const PASSWORD = 'correct horse battery staple';
const OTHER = 'staple battery horse correct';
const MAKER = [
  '--name',
  'Desk A',
  '--role',
  'MARKET_MAKER',
  '--venue',
  'venue_a',
  '--max-quantity-atoms',
  '5000000',
];

let database: TestDatabase;
let identity: Identity;
let closePools: () => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  const [pool, watchPool] = [5, 2].map((max) => openPool(database.url, { applicationName: 'gateway', max }));
  identity = openIdentity(
    { pool: pool!, watchPool: watchPool!, clock: new SystemClock() },
    { catalogues: [AUCTION_CATALOGUE], keyEncryptionKeys: ['a1'.repeat(32)], lifetimes: LONGEST_LIFETIMES },
  );
  closePools = async () => {
    await Promise.all([pool!.end(), watchPool!.end()]);
  };
  await identity.start();
}, 30_000);

afterAll(async () => {
  identity.stop();
  await closePools();
  await database.drop();
});

function read(args: readonly string[]): AccountCall {
  const parsed = parseCall(ACCOUNTS, args);
  if ('help' in parsed) throw new Error('these arguments ask for help');
  return callOf(parsed);
}

/** Calls `accounts` as a shell would, and returns the lines that it prints. */
async function accounts(args: readonly string[], typed?: string): Promise<string[]> {
  const call = read(args);
  const printed: string[] = [];
  await runAccounts(call, {
    databaseUrl: database.url,
    clock: new SystemClock(),
    keyboard: { input: Readable.from(typed === undefined ? [] : [typed]), output: new PassThrough() },
    say: (line) => printed.push(line),
  });
  return printed;
}

async function document<T>(args: readonly string[], typed?: string): Promise<T> {
  const [line = '', ...more] = await accounts([...args, '--output', 'json'], typed);
  expect(more).toEqual([]);
  return JSON.parse(line) as T;
}

function logIn(email: string, password: string): Promise<LoginResult> {
  return identity.logins.login(email, password, '10.0.0.1');
}

describe('add', () => {
  it('enters an account that can log in and has the given rights in every register', async () => {
    const { account, created } = await document<{ account: AccountEntry; created: boolean }>(
      [
        'add',
        'desk-a@house.example',
        ...MAKER,
        '--role',
        'ORIGINATOR',
        '--venue',
        'venue_b',
        '--control-group',
        'house',
      ],
      `${PASSWORD}\nignored\n`,
    );
    expect(created).toBe(true);
    expect(account).toEqual({
      account_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: 'desk-a@house.example',
      display_name: 'Desk A',
      disabled: false,
      enrolled: true,
      suspended: false,
      invited: false,
      roles: ['ORIGINATOR', 'MARKET_MAKER'],
      capabilities: ['auction:create', 'auction:quote'],
      venues: ['venue_a', 'venue_b'],
      max_quantity_atoms: 5_000_000,
      control_group: 'house',
    });
    const session = await logIn('Desk-A@house.example', PASSWORD);
    if (!session.ok) throw new Error(session.reason);
    await identity.watch.refresh();
    const seen = await identity.verifierOf('AUCTION').verify(session.access_token);
    expect(seen).toMatchObject({ principal: { accountId: account.account_id, displayName: 'Desk A' } });
    const { principals } = await loadPolicy(database.pool);
    expect(principals.get(account.account_id)).toEqual({
      account_id: account.account_id,
      display_name: 'Desk A',
      is_maker: true,
      is_originator: true,
      may_create: true,
      may_quote: true,
      suspended: false,
      venues: new Set(['venue_a', 'venue_b']),
      max_quantity_atoms: 5_000_000,
      control_group: 'house',
    });
  });

  it('changes nothing when repeated, applies other options when given, and keeps the password', async () => {
    const add = (...options: string[]): Promise<{ account: AccountEntry; created: boolean }> =>
      document(['add', 'twice@house.example', ...options]);
    await accounts(['add', 'twice@house.example', ...MAKER], `${PASSWORD}\n`);
    const { account: before } = await add(...MAKER);
    expect(await add(...MAKER)).toEqual({ account: before, created: false });
    const { account } = await add('--name', 'Reader', '--role', 'VIEWER', '--capability', 'none');
    expect(account).toMatchObject({
      account_id: before.account_id,
      display_name: 'Reader',
      roles: ['VIEWER'],
      capabilities: [],
      venues: [],
      max_quantity_atoms: 0,
    });
    const { principals } = await loadPolicy(database.pool);
    expect(principals.get(account.account_id)).toMatchObject({ is_maker: false, may_quote: false });
    expect((await logIn('twice@house.example', PASSWORD)).ok).toBe(true);
  });

  it.each([
    ['too short', 'fourteen chars\n'],
    ['not there', undefined],
    ['empty', '\n'],
  ])('adds no account when the password is %s', async (_what, typed) => {
    await expect(accounts(['add', 'nobody@house.example', ...MAKER], typed)).rejects.toThrow('password');
    expect((await accounts(['list'])).join('\n')).not.toContain('nobody@house.example');
  });

  it.each([
    [[]],
    [['erase', 'a@b']],
    [['add']],
    [['add', 'nobody']],
    [['add', 'a@b', '--name', 'x', '--role', 'VIEWER', '--account-id', 'maker-1']],
    [['add', 'a@b', '--name', 'x', '--role', 'VIEWER', '--name', 'y']],
    [['add', 'a@b', '--role', 'MARKET_MAKER']],
    [['add', 'a@b', '--name', ' ', '--role', 'VIEWER']],
    [['add', 'a@b', '--name', 'A', '--role', 'KING']],
    [['add', 'a@b', '--name', 'A', '--role', 'MARKET_MAKER', '--venue', 'venue_a']],
    [['add', 'a@b', '--name', 'A', '--role', 'ORIGINATOR', '--max-quantity-atoms', '1']],
    [['add', 'a@b', '--name', 'A', '--role', 'VIEWER', '--max-quantity-atoms', '1e3']],
    [['add', 'a@b', '--name', 'A', '--role', 'VIEWER', '--password', PASSWORD]],
    [['add', 'a@b', 'c@d', '--name', 'A', '--role', 'VIEWER']],
    [['disable', 'a@b', '--name', 'A']],
    [['list', '--output', 'xml']],
  ])('refuses the arguments %j', (args) => {
    expect(() => read(args)).toThrow(UsageFault);
  });
});

describe('an existing account', () => {
  const EMAIL = 'changed@house.example';

  beforeAll(() => accounts(['add', EMAIL, ...MAKER], `${PASSWORD}\n`));

  async function session(password: string): Promise<string> {
    const result = await logIn(EMAIL, password);
    if (!result.ok) throw new Error(result.reason);
    return result.access_token;
  }

  async function isGood(token: string): Promise<boolean> {
    await identity.watch.refresh();
    return (await identity.verifierOf('AUCTION').verify(token)).ok;
  }

  it('gets a new password, which ends the sessions of the old one', async () => {
    const token = await session(PASSWORD);
    expect(await isGood(token)).toBe(true);
    await accounts(['password', EMAIL], `${OTHER}\n`);
    expect(await isGood(token)).toBe(false);
    expect((await logIn(EMAIL, PASSWORD)).ok).toBe(false);
    await accounts(['password', EMAIL], `${PASSWORD}\n`);
  });

  it('cannot log in and is suspended while disabled, also when disabled twice', async () => {
    const token = await session(PASSWORD);
    for (let times = 0; times < 2; times += 1) {
      const { account } = await document<{ account: AccountEntry }>(['disable', EMAIL]);
      expect(account).toMatchObject({ disabled: true, suspended: true });
    }
    expect(await isGood(token)).toBe(false);
    expect((await logIn(EMAIL, PASSWORD)).ok).toBe(false);
    const { account } = await document<{ account: AccountEntry }>(['enable', EMAIL]);
    expect(account).toMatchObject({ disabled: false, suspended: false });
    expect(await isGood(token)).toBe(false);
    expect(await isGood(await session(PASSWORD))).toBe(true);
  });

  it('can be invited to market data without any other change', async () => {
    for (const [command, invited] of [
      ['invite', true],
      ['invite', true],
      ['uninvite', false],
      ['uninvite', false],
    ] as const) {
      const { account } = await document<{ account: AccountEntry }>([command, EMAIL]);
      expect(account).toMatchObject({ invited, enrolled: true, roles: ['MARKET_MAKER'] });
    }
  });

  it('is listed without its password', async () => {
    const lines = await accounts(['list']);
    expect(lines.find((line) => line.startsWith(EMAIL))).toMatch(
      /Desk A +MARKET_MAKER +venue_a +- +- +enrolled$/,
    );
    const { accounts: listed } = await document<{ accounts: AccountEntry[] }>(['list']);
    expect(listed.map(({ email }) => email)).toContain(EMAIL);
    expect(JSON.stringify(listed)).not.toMatch(/scrypt|argon2|hash/);
  });

  it.each(['disable', 'enable', 'invite', 'uninvite', 'password'])('must exist for %s', async (command) => {
    await expect(accounts([command, 'stranger@house.example'], `${PASSWORD}\n`)).rejects.toThrow(
      'there is no account',
    );
  });
});

it('escapes control characters in the name of an account', async () => {
  await accounts(['add', 'desk-z@house.example', ...MAKER], `${PASSWORD}\n`);
  const change = `update identity.users set display_name = $1 where email = 'desk-z@house.example'`;
  await database.pool.query(change, ['Desk\n\u001B[2JZ\u009B\u2028']);
  const lines = await accounts(['list']);
  expect(lines.find((line) => line.startsWith('desk-z@'))).toContain('Desk\\u{a}\\u{1b}[2JZ\\u{9b}\\u{2028}');
  const [json] = await accounts(['list', '--output', 'json']);
  expect(json).toMatch(/Desk\\n\\u001b\[2JZ\\u009b\\u2028/);
});
