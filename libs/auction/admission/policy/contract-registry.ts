import type { Pool } from 'pg';
import type { ContractFacts } from '../../rules/commands.js';
import type { RouteKey } from './policy-snapshot.js';
import { requiredInstant, utcText } from '../timestamps.js';

export interface ContractPage {
  readonly venue?: string;
  /** The last contract of the previous page. */
  readonly after?: RouteKey;
  readonly limit: number;
}

export const CONTRACT_COLUMNS = `venue, contract_id, outcome, title, equivalence_id, price_tick_atoms,
  quantity_step_atoms, status, ${utcText('closes_at')} as closes_at`;

export function contractOfRow(row: ContractPolicyRow): ContractFacts {
  return { ...row, closes_at: requiredInstant(row.closes_at) };
}

const PAGE = `
  select ${CONTRACT_COLUMNS} from control.contracts
  where ($1::text is null or venue = $1) and (venue, contract_id, outcome) > ($2, $3, $4)
  order by venue, contract_id, outcome limit $5`;

/** Ordered by venue, contract and outcome, along the primary key. */
export async function listContracts(
  pool: Pool,
  { venue, after, limit }: ContractPage,
): Promise<readonly ContractFacts[]> {
  const { rows } = await pool.query<ContractPolicyRow>({
    name: 'contracts-page',
    text: PAGE,
    values: [venue ?? null, after?.venue ?? '', after?.contract_id ?? '', after?.outcome ?? '', limit],
  });
  return rows.map(contractOfRow);
}

const ONE = `select ${CONTRACT_COLUMNS} from control.contracts where (venue, contract_id, outcome) = ($1, $2, $3)`;

export async function findContract(
  pool: Pool,
  { venue, contract_id, outcome }: RouteKey,
): Promise<ContractFacts | undefined> {
  const { rows } = await pool.query<ContractPolicyRow>(ONE, [venue, contract_id, outcome]);
  return rows.map(contractOfRow)[0];
}

/** Called by the registry: a market pauses, trades again, or closes for good. */
export async function setContractStatus(
  pool: Pool,
  contract: RouteKey,
  status: ContractFacts['status'],
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update control.contracts set status = $4
     where (venue, contract_id, outcome) = ($1, $2, $3) and status <> 'CLOSED'`,
    [contract.venue, contract.contract_id, contract.outcome, status],
  );
  return rowCount === 1;
}

export type ContractPolicyRow = ContractFacts;
