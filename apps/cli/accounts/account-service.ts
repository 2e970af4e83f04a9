import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { PrincipalRegister } from '#libs/auction/admission/policy/principal-register.js';
import { AUCTION_CATALOGUE } from '#libs/auction/protocol/enrolment.js';
import { DATA_CATALOGUE } from '#libs/data/api/enrolment.js';
import { AccountAdministration, type KnownUser } from '#libs/identity/accounts/account-administration.js';
import { emailKey } from '#libs/identity/accounts/email.js';
import { enrolUsers } from '#libs/identity/accounts/enrol-users.js';
import { hashPassword } from '#libs/identity/passwords/password-hash.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { CommandFault, EXIT_REFUSED } from '../ops/arguments.js';
import type { AccountTerms } from './call.js';

/** The key of the advisory lock. Every release must use the same one. */
const ACCOUNTS_LOCK = 7_210_554_319;

export interface AccountEntry extends KnownUser {
  readonly suspended: boolean;
  /** Whether the account may read market data. */
  readonly invited: boolean;
  readonly venues: readonly string[];
  readonly max_quantity_atoms: number;
  readonly control_group?: string;
}

interface Registers {
  readonly client: PoolClient;
  readonly users: AccountAdministration;
  readonly readers: AccountAdministration;
  readonly principals: PrincipalRegister;
}

/** Identity decides who may log in, the policy what it may do. A change writes both or neither. */
export class AccountService {
  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
  ) {}

  list(): Promise<readonly AccountEntry[]> {
    return this.change(entries);
  }

  /** `password` is called only if the account is new. */
  async add(
    email: string,
    terms: AccountTerms,
    password: () => Promise<string>,
  ): Promise<{ readonly account: AccountEntry; readonly created: boolean }> {
    // Asked for between two transactions: none stays open while a person types.
    const isNew = (await this.change((registers) => findAccount(registers, email, terms))) === undefined;
    const passwordHash = isNew ? await hashPassword(await password()) : undefined;
    return this.change(async (registers) => {
      const known = await findAccount(registers, email, terms);
      const accountId = known?.account_id ?? terms.accountId ?? randomUUID();
      if (known === undefined) await insertUser(registers, accountId, email, terms, passwordHash);
      await registers.users.rename(accountId, terms.name);
      await registers.users.enrol(accountId, terms.roles, terms.capabilities);
      await registers.principals.enter({
        account_id: accountId,
        display_name: terms.name,
        is_maker: terms.roles.includes('MARKET_MAKER'),
        is_originator: terms.roles.includes('ORIGINATOR'),
        venues: terms.venues,
        max_quantity_atoms: terms.maxQuantityAtoms,
        ...(terms.controlGroup === undefined ? {} : { control_group: terms.controlGroup }),
      });
      return { account: await entryOf(registers, email), created: known === undefined };
    });
  }

  disable(email: string): Promise<AccountEntry> {
    return this.changeKnown(email, async ({ users, principals }, accountId) => {
      await users.disable(accountId);
      await principals.suspend(accountId, true);
    });
  }

  enable(email: string): Promise<AccountEntry> {
    return this.changeKnown(email, async ({ users, principals }, accountId) => {
      await users.enable(accountId);
      await principals.suspend(accountId, false);
    });
  }

  invite(email: string): Promise<AccountEntry> {
    return this.changeKnown(email, ({ readers }, accountId) =>
      readers.enrol(accountId, DATA_CATALOGUE.roles, DATA_CATALOGUE.capabilities),
    );
  }

  uninvite(email: string): Promise<AccountEntry> {
    return this.changeKnown(email, ({ readers }, accountId) => readers.endEnrolment(accountId));
  }

  async setPassword(email: string, password: () => Promise<string>): Promise<AccountEntry> {
    await this.changeKnown(email, () => Promise.resolve());
    const hash = await hashPassword(await password());
    return this.changeKnown(email, ({ users }, accountId) => users.changePassword(accountId, hash));
  }

  private changeKnown(
    email: string,
    work: (registers: Registers, accountId: string) => Promise<void>,
  ): Promise<AccountEntry> {
    return this.change(async (registers) => {
      await work(registers, (await entryOf(registers, email)).account_id);
      return entryOf(registers, email);
    });
  }

  /** Changes of accounts run one at a time. */
  private change<T>(work: (registers: Registers) => Promise<T>): Promise<T> {
    return withTransaction(this.pool, 'read committed', async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [ACCOUNTS_LOCK]);
      const users = new AccountAdministration(client, this.clock, AUCTION_CATALOGUE);
      const readers = new AccountAdministration(client, this.clock, DATA_CATALOGUE);
      return work({ client, users, readers, principals: new PrincipalRegister(client) });
    });
  }
}

/**
 * Undefined where the account is new. One id is one account for good: neither email nor id may change hands.
 */
async function findAccount(
  { users }: Registers,
  email: string,
  { accountId }: AccountTerms,
): Promise<KnownUser | undefined> {
  const known = await users.find(email);
  if (accountId === undefined || known?.account_id === accountId) return known;
  if (known !== undefined) {
    throw new CommandFault(`${email} already exists as ${known.account_id}`, EXIT_REFUSED);
  }
  const holder = (await users.users()).find((user) => user.account_id === accountId);
  if (holder === undefined) return undefined;
  throw new CommandFault(`${accountId} is the account of ${holder.email}`, EXIT_REFUSED);
}

async function insertUser(
  { client }: Registers,
  accountId: string,
  email: string,
  terms: AccountTerms,
  passwordHash: string | undefined,
): Promise<void> {
  if (passwordHash === undefined)
    throw new CommandFault(`${email} was removed in the meantime`, EXIT_REFUSED);
  await enrolUsers(client, [{ accountId, email, displayName: terms.name, passwordHash }], AUCTION_CATALOGUE);
}

async function entries({ users, readers, principals }: Registers): Promise<readonly AccountEntry[]> {
  const invited = new Set(
    (await readers.users()).filter(({ enrolled }) => enrolled).map(({ account_id: id }) => id),
  );
  const standings = new Map(
    (await principals.standings()).map((standing) => [standing.account_id, standing]),
  );
  return (await users.users()).map((user): AccountEntry => {
    const {
      venues = [],
      max_quantity_atoms = 0,
      suspended = false,
      control_group,
    } = standings.get(user.account_id) ?? {};
    const group = control_group === undefined ? {} : { control_group };
    return {
      ...user,
      suspended,
      invited: invited.has(user.account_id),
      venues,
      max_quantity_atoms,
      ...group,
    };
  });
}

async function entryOf(registers: Registers, email: string): Promise<AccountEntry> {
  const found = (await entries(registers)).find((entry) => emailKey(entry.email) === emailKey(email));
  if (found === undefined) throw new CommandFault(`there is no account ${email}`, EXIT_REFUSED);
  return found;
}
