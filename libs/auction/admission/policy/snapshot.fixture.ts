import type { ContractFacts } from '../../rules/commands.js';
import { contractKey, type PolicySnapshot, type TradingPrincipal } from './policy-snapshot.js';

export function contract(venue: string, more: Partial<ContractFacts> = {}): ContractFacts {
  return {
    venue,
    contract_id: 'rain',
    outcome: 'YES',
    title: 'Rain tomorrow',
    equivalence_id: 'rain-yes',
    price_tick_atoms: 1_000,
    quantity_step_atoms: 1_000,
    status: 'TRADING',
    closes_at: '2030-01-01T00:00:00.000000000Z',
    ...more,
  };
}

export function principal(account_id: string, more: Partial<TradingPrincipal> = {}): TradingPrincipal {
  return {
    account_id,
    display_name: account_id.toUpperCase(),
    is_maker: account_id.startsWith('maker'),
    is_originator: account_id.startsWith('originator'),
    suspended: false,
    may_create: true,
    may_quote: true,
    venues: new Set(['venue_a', 'venue_b']),
    max_quantity_atoms: 1_000_000,
    ...more,
  };
}

export function policyOf(
  principals: readonly TradingPrincipal[],
  more: Partial<PolicySnapshot> & { readonly listed?: readonly ContractFacts[] } = {},
): PolicySnapshot {
  const { listed = [contract('venue_a'), contract('venue_b')], ...rest } = more;
  return {
    version: 1,
    parts: { contracts: 1, principals: 1, halts: 1, groups: 1, protection: 1 },
    contracts: new Map(listed.map((facts) => [contractKey(facts), facts])),
    principals: new Map(principals.map((each) => [each.account_id, each])),
    halts: [],
    groups: new Map(),
    frozen: new Map(),
    ...rest,
  };
}
