import type { Pool } from 'pg';
import { type PolicySeed, seedContracts, seedPolicy } from '#libs/auction/admission/policy/seed-policy.js';
import { AUCTION_CATALOGUE } from '#libs/auction/protocol/enrolment.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { EVIDENCE_FEED_DEFAULTS } from '#libs/ledger/evidence-feed.js';
import { seedBalances } from '#libs/ledger/seed.js';
import { enterApiKeys, type EnteredKey } from '#libs/identity/api-keys/enter-api-keys.js';
import { TripleSeal } from '#libs/identity/api-keys/key-triple.js';
import { DATA_CATALOGUE } from '#libs/data/api/enrolment.js';
import { EXECUTION_CATALOGUE } from '#libs/execution/protocol/enrolment.js';
import { enrolKnown, enrolUsers } from '#libs/identity/accounts/enrol-users.js';
import { hashPassword } from '#libs/identity/passwords/password-hash.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { DEMO_PASSWORD, type DemoAccount, demoAccounts } from './demo/demo-accounts.js';
import { demoBalances, demoLimits } from './demo/demo-balances.js';
import { demoKeys } from './demo/demo-keys.js';
import { DEMO_VENUES, demoContracts } from './demo/demo-contracts.js';
import type { DemoUser, Seed } from './seed-result.js';

const MAX_QUANTITY_ATOMS = 100_000_000_000_000;

/**
 * Makes demo accounts, contracts and balances. Rows of an earlier start stay as they are, except load makers.
 */
export const seedDemo: Seed = async ({ databaseUrl, loadAccounts, apiKeySecret }) => {
  const pool = openPool(databaseUrl, { applicationName: 'seed', max: 2 });
  try {
    const now = instantFromNanos(new SystemClock().epochNanos());
    const accounts = demoAccounts(loadAccounts);
    const keys = apiKeySecret === undefined ? [] : demoKeys(accounts, apiKeySecret);
    const contracts = demoContracts(now);
    await enrol(pool, accounts);
    await enrolTraders(pool, accounts);
    await inviteReaders(pool, accounts);
    if (apiKeySecret !== undefined) await enterApiKeys(pool, new TripleSeal(apiKeySecret), keys);
    await seedContracts(pool, contracts);
    await seedPolicy(
      pool,
      accounts.filter(({ enrolled }) => enrolled).map((account) => policyOf(account)),
    );
    await callInLoadMakers(pool, accounts);
    await seedBalances(pool, demoBalances(accounts, contracts), demoLimits(accounts), {
      now,
      evidenceTtlMillis: EVIDENCE_FEED_DEFAULTS.ttlMillis,
    });
    return {
      password: DEMO_PASSWORD,
      users: accounts.map((account) => userOf(account, keys)),
      contracts: contracts.map(({ venue, contract_id, outcome, price_tick_atoms, quantity_step_atoms }) => ({
        venue,
        contract_id,
        outcome,
        price_tick_atoms,
        quantity_step_atoms,
      })),
    };
  } finally {
    await pool.end();
  }
};

/** Cheap on purpose: hundreds of load accounts log in at once, and the hash is not what they measure. */
const LOAD_COST = { logN: 11, r: 8, p: 1 };

/** One hash for all: the password is printed on the terminal, so a salt would protect nothing. */
async function enrol(pool: Pool, accounts: readonly DemoAccount[]): Promise<void> {
  const [personHash, loadHash] = await Promise.all([
    hashPassword(DEMO_PASSWORD),
    hashPassword(DEMO_PASSWORD, LOAD_COST),
  ]);
  await enrolUsers(
    pool,
    accounts.map((account) => ({
      accountId: account.account_id,
      email: account.email,
      displayName: account.display_name,
      passwordHash: account.load ? loadHash : personHash,
      ...(account.enrolled
        ? { enrolment: { roles: account.roles, ...(account.capable ? {} : { capabilities: [] }) } }
        : {}),
    })),
    AUCTION_CATALOGUE,
  );
}

/** Enrols traders and operators in order execution, whatever their roles in auctions. */
async function enrolTraders(pool: Pool, accounts: readonly DemoAccount[]): Promise<void> {
  const rolesOf = ({ trading, roles }: DemoAccount): readonly string[] => [
    ...(trading === undefined ? [] : ['TRADER']),
    ...(roles.includes('OPERATOR') ? ['OPERATOR'] : []),
  ];
  const enrolled = accounts.filter((account) => rolesOf(account).length > 0);
  await enrolKnown(
    pool,
    enrolled.map((account) => ({ accountId: account.account_id, roles: rolesOf(account) })),
    EXECUTION_CATALOGUE,
  );
}

/** Lets accounts read market data. */
async function inviteReaders(pool: Pool, accounts: readonly DemoAccount[]): Promise<void> {
  const invited = accounts.filter((account) => account.invited);
  await enrolKnown(
    pool,
    invited.map((account) => ({ accountId: account.account_id, roles: DATA_CATALOGUE.roles })),
    DATA_CATALOGUE,
  );
}

function userOf(
  { email, account_id, roles, invited, trading }: DemoAccount,
  keys: readonly EnteredKey[],
): DemoUser {
  if (trading === undefined) return { email, account_id, roles, invited };
  const own = keys.filter((key) => key.account_id === account_id);
  const shown = [...roles, 'TRADER'];
  if (own.length === 0) return { email, account_id, roles: shown, invited };
  const triples = own.map(({ name, client_id, api_key, api_secret, scopes, ip_allow_list = [] }) => ({
    ...{ name, client_id, api_key, api_secret, scopes, ip_allow_list },
  }));
  return { email, account_id, roles: shown, invited, api_keys: triples, trading };
}

function policyOf(account: DemoAccount): PolicySeed {
  const isMaker = account.roles.includes('MARKET_MAKER');
  const isOriginator = account.roles.includes('ORIGINATOR');
  return {
    account_id: account.account_id,
    display_name: account.display_name,
    is_maker: isMaker,
    is_originator: isOriginator,
    suspended: false,
    may_create: isOriginator,
    may_quote: isMaker,
    venues: account.venues,
    max_quantity_atoms: MAX_QUANTITY_ATOMS,
    ...(account.control_group === undefined ? {} : { control_group: account.control_group }),
  };
}

/**
 * Load makers get venues only in starts that ask for them: leftovers of an earlier start would make audiences
 * of `all_eligible` too large. Their other fields stay as they are.
 */
export async function callInLoadMakers(pool: Pool, accounts: readonly DemoAccount[]): Promise<void> {
  const loadAccountIds = accounts.filter(({ load }) => load).map(({ account_id: id }) => id);
  await pool.query(
    `with wanted as (
       select account_id::text, case when account_id::text = any ($1) then $2::text[] else '{}' end as venues
       from identity.users where email like 'load-maker-%@demo.sotto'
     )
     update control.accounts_policy as policy set venues = wanted.venues from wanted
     where policy.account_id = wanted.account_id and policy.venues <> wanted.venues`,
    [loadAccountIds, DEMO_VENUES],
  );
}
