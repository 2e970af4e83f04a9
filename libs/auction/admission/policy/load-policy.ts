import type { Pool, PoolClient } from 'pg';
import type { ContractFacts } from '../../rules/commands.js';
import type { Instant } from '#libs/base/instant.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { requiredInstant, utcText } from '../timestamps.js';
import { CONTRACT_COLUMNS, contractOfRow, type ContractPolicyRow } from './contract-registry.js';
import {
  contractKey,
  type MakerGroup,
  type PartVersions,
  type PolicySnapshot,
  type TradingPrincipal,
} from './policy-snapshot.js';
import { HALT_COLUMNS, haltOfRow, type HaltRow } from './halts.js';

const VERSIONS = 'select version, contracts, principals, halts, groups, protection from control.version';

interface VersionRow extends PartVersions {
  readonly version: number;
}

/** One consistent snapshot. Parts that have not changed since `known` are reused. */
export function loadPolicy(pool: Pool, known?: PolicySnapshot): Promise<PolicySnapshot> {
  return withTransaction(pool, 'repeatable read, read only', async (client) => {
    const { version, ...parts } = versionRow(await client.query<VersionRow>(VERSIONS));
    const part = <T>(
      name: keyof PartVersions,
      before: T | undefined,
      load: (from: PoolClient) => Promise<T>,
    ) => (before !== undefined && known?.parts[name] === parts[name] ? before : load(client));
    return {
      version,
      parts,
      contracts: await part('contracts', known?.contracts, loadContracts),
      principals: await part('principals', known?.principals, loadPrincipals),
      halts: await part('halts', known?.halts, loadHalts),
      groups: await part('groups', known?.groups, loadGroups),
      frozen: await part('protection', known?.frozen, loadFrozen),
    };
  });
}

function versionRow<Row>(result: { readonly rows: readonly Row[] }): Row {
  const [row] = result.rows;
  if (row === undefined) throw new Error('control.version is empty');
  return row;
}

const CONTRACTS = `select ${CONTRACT_COLUMNS} from control.contracts`;

async function loadContracts(client: PoolClient): Promise<ReadonlyMap<string, ContractFacts>> {
  const { rows } = await client.query<ContractPolicyRow>(CONTRACTS);
  return new Map(rows.map((row) => [contractKey(row), contractOfRow(row)]));
}

type PrincipalRow = Omit<TradingPrincipal, 'venues' | 'control_group'> & {
  readonly venues: readonly string[];
  readonly control_group: string | null;
};

const PRINCIPALS = `
  select account_id, display_name, is_maker, is_originator,
    coalesce(suspended, false) as suspended, coalesce(may_create, false) as may_create,
    coalesce(may_quote, false) as may_quote, coalesce(venues, '{}') as venues,
    coalesce(max_quantity_atoms, 0) as max_quantity_atoms, control_group
  from control.principals left join control.accounts_policy using (account_id)`;

async function loadPrincipals(client: PoolClient): Promise<ReadonlyMap<string, TradingPrincipal>> {
  const { rows } = await client.query<PrincipalRow>(PRINCIPALS);
  return new Map(rows.map((row) => [row.account_id, principalOfRow(row)]));
}

function principalOfRow({ control_group, venues, ...row }: PrincipalRow): TradingPrincipal {
  return { ...row, venues: new Set(venues), ...(control_group === null ? {} : { control_group }) };
}

const HALTS = `select ${HALT_COLUMNS} from control.halts where lifted_at is null order by created_at, halt_id`;

async function loadHalts(client: PoolClient): Promise<PolicySnapshot['halts']> {
  const { rows } = await client.query<HaltRow>(HALTS);
  return rows.map(haltOfRow);
}

const GROUPS = `
  select group_id, owner, name,
    array(select account_id from control.group_members m where m.group_id = g.group_id order by 1) as market_maker_ids
  from control.groups g`;

async function loadGroups(client: PoolClient): Promise<ReadonlyMap<string, MakerGroup>> {
  const { rows } = await client.query<MakerGroup>(GROUPS);
  return new Map(rows.map((row) => [row.group_id, row]));
}

const FROZEN = `select account_id, ${utcText('frozen_until')} as until from control.protection_state`;

async function loadFrozen(client: PoolClient): Promise<ReadonlyMap<string, Instant>> {
  const { rows } = await client.query<{ account_id: string; until: string }>(FROZEN);
  return new Map(rows.map((row) => [row.account_id, requiredInstant(row.until)]));
}

const FIRST_ROWS = [CONTRACTS, PRINCIPALS, HALTS, GROUPS, FROZEN]
  .map((part) => `(select count(part) from (${part} limit 1) as part)`)
  .join(', ');
const POLL = `select version, array[${FIRST_ROWS}] as readable from control.version`;

/**
 * The version could still be read when the policy itself cannot be. So every poll also reads a row of each part,
 * and fails if one cannot be read.
 */
export async function readableVersion(pool: Pool): Promise<number> {
  return versionRow(await pool.query<Pick<VersionRow, 'version'>>({ name: 'policy-version', text: POLL }))
    .version;
}
