import type { ContractFacts } from '../../rules/commands.js';
import { requiredInstant, utcText } from '../timestamps.js';

export type ContractPolicyRow = ContractFacts;

export const CONTRACT_COLUMNS = `venue, contract_id, outcome, title, equivalence_id, price_tick_atoms,
  quantity_step_atoms, status, ${utcText('closes_at')} as closes_at`;

export function contractOfRow(row: ContractPolicyRow): ContractFacts {
  return { ...row, closes_at: requiredInstant(row.closes_at) };
}
