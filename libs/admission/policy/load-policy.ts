import type { Pool, PoolClient } from 'pg';
import type { ContractFacts } from '#libs/auction/commands.js';
import type { Instant } from '#libs/auction/instant.js';
import { withTransaction } from '#libs/platform/postgres.js';
import { requiredInstant, utcText } from '../timestamps.js';
import { CONTRACT_COLUMNS, contractOfRow, type ContractRow } from './contract-rows.js';
import {
  contractKey,
  type MakerGroup,
  type PartVersions,
  type PolicySnapshot,
  type Principal,
} from './policy-snapshot.js';
import { HALT_COLUMNS, haltOfRow, type HaltRow } from './halt-rows.js';

const VERSIONS = 'select version, contracts, principals, halts, groups, protection from control.version';

interface VersionRow extends PartVersions {
  readonly version: number;
}

export async function policyVersion(pool: Pool): Promise<number> {
  return versionRow(await pool.query<VersionRow>({ name: 'policy-version', text: VERSIONS })).version;
}

/** One consistent picture; the parts that have not changed since `known` are taken over from it. */
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

function versionRow(result: { readonly rows: readonly VersionRow[] }): VersionRow {
  const [row] = result.rows;
  if (row === undefined) throw new Error('control.version is empty');
  return row;
}

async function loadContracts(client: PoolClient): Promise<ReadonlyMap<string, ContractFacts>> {
  const { rows } = await client.query<ContractRow>(`select ${CONTRACT_COLUMNS} from control.contracts`);
  return new Map(rows.map((row) => [contractKey(row), contractOfRow(row)]));
}

type PrincipalRow = Omit<Principal, 'venues' | 'control_group'> & {
  readonly venues: readonly string[];
  readonly control_group: string | null;
};

const PRINCIPALS = `
  select account_id, display_name, is_maker, is_originator,
    coalesce(suspended, false) as suspended, coalesce(may_create, false) as may_create,
    coalesce(may_quote, false) as may_quote, coalesce(venues, '{}') as venues,
    coalesce(max_quantity_atoms, 0) as max_quantity_atoms, control_group
  from control.principals left join control.accounts_policy using (account_id)`;

async function loadPrincipals(client: PoolClient): Promise<ReadonlyMap<string, Principal>> {
  const { rows } = await client.query<PrincipalRow>(PRINCIPALS);
  return new Map(rows.map((row) => [row.account_id, principalOfRow(row)]));
}

function principalOfRow({ control_group, venues, ...row }: PrincipalRow): Principal {
  return { ...row, venues: new Set(venues), ...(control_group === null ? {} : { control_group }) };
}

async function loadHalts(client: PoolClient): Promise<PolicySnapshot['halts']> {
  const { rows } = await client.query<HaltRow>(
    `select ${HALT_COLUMNS} from control.halts where lifted_at is null order by created_at, halt_id`,
  );
  return rows.map(haltOfRow);
}

async function loadGroups(client: PoolClient): Promise<ReadonlyMap<string, MakerGroup>> {
  const { rows } = await client.query<MakerGroup>(`
    select group_id, owner, name,
      array(select account_id from control.group_members m where m.group_id = g.group_id order by 1) as market_maker_ids
    from control.groups g`);
  return new Map(rows.map((row) => [row.group_id, row]));
}

async function loadFrozen(client: PoolClient): Promise<ReadonlyMap<string, Instant>> {
  const { rows } = await client.query<{ account_id: string; until: string }>(
    `select account_id, ${utcText('frozen_until')} as until from control.protection_state`,
  );
  return new Map(rows.map((row) => [row.account_id, requiredInstant(row.until)]));
}
