import type { Pool } from 'pg';
import { listContracts } from '#libs/auction/admission/policy/contract-registry.js';
import type { ContractFacts } from '#libs/auction/rules/commands.js';
import { inVault } from '#libs/ledger/ledger.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { AccountService, type AccountEntry } from '../accounts/account-service.js';
import { lacksOf, type BalanceLine, type EvidenceLine, type LimitLine, type OpeningLine } from './lacks.js';

export interface AccountState {
  readonly account_id: string;
  /** Absent where the ledger has an account that identity lacks, as after a restore. */
  readonly email?: string;
  readonly balances: readonly BalanceLine[];
  readonly limits: readonly LimitLine[];
  readonly openings: readonly OpeningLine[];
  /** Why it cannot trade, as text. Empty for accounts that do not trade. */
  readonly lacks: readonly string[];
}

export interface LedgerState {
  readonly contracts: readonly ContractFacts[];
  readonly accounts: readonly AccountState[];
}

const BALANCES = `
  select account_id, venue, asset, amount as amount_atoms from custody.balances b
  where account_id not like 'system:%' and ${inVault('b')} order by account_id, venue, asset`;

const LIMITS = `
  select account_id, venue, resource, amount as amount_atoms from custody.limits order by account_id, resource desc, venue`;

const OPENINGS = `
  select account_id, reference, venue, asset, amount as amount_atoms
  from custody.openings join custody.entries using (transaction_id)
  where account_id not like 'system:%' order by transaction_id`;

const EVIDENCE = `
  select account_id, venue, resource, asset, least(risk_valid_until, authority_valid_until) > now() as holds
  from risk.evidence`;

/** Above any real number of contracts: every owner reads the whole registry. */
const ALL = 1_000_000;

/** What the ledger holds, except secrets of auctions. */
export async function readLedgerState(pool: Pool, clock: Clock): Promise<LedgerState> {
  const contracts = await listContracts(pool, { limit: ALL });
  const entered = await new AccountService(pool, clock).list();
  const balances = (await pool.query<BalanceLine>(BALANCES)).rows;
  const limits = (await pool.query<LimitLine>(LIMITS)).rows;
  const openings = (await pool.query<OpeningLine>(OPENINGS)).rows;
  const evidence = (await pool.query<EvidenceLine>(EVIDENCE)).rows;
  const known = new Map<string, AccountEntry | undefined>(entered.map((entry) => [entry.account_id, entry]));
  for (const { account_id: id } of [...balances, ...limits]) if (!known.has(id)) known.set(id, undefined);
  const lines = {
    balances: byAccount(balances),
    limits: byAccount(limits),
    openings: byAccount(openings),
    evidence: byAccount(evidence),
  };
  const trading = new Set(contracts.filter(({ status }) => status === 'TRADING').map(({ venue }) => venue));
  const accounts = [...known].map(([id, entry]): AccountState => {
    const of = <Line>(all: ReadonlyMap<string, Line[]>): Line[] => all.get(id) ?? [];
    const own = { balances: of(lines.balances), limits: of(lines.limits) };
    return {
      account_id: id,
      ...(entry === undefined ? {} : { email: entry.email }),
      ...own,
      openings: of(lines.openings),
      lacks: lacksOf(entry, { ...own, evidence: of(lines.evidence) }, trading),
    };
  });
  return { contracts, accounts };
}

function byAccount<Line extends { readonly account_id: string }>(
  lines: readonly Line[],
): Map<string, Line[]> {
  return Map.groupBy(lines, ({ account_id: id }) => id);
}
