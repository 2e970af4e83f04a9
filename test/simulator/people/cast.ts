import { Random } from '../kernel/random.js';
import {
  keyOf,
  type BalanceRow,
  type GroupRow,
  type PrincipalRow,
  type ProtectionRow,
  type Tables,
} from '../storage/tables.js';

export interface Contract {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
}

/** Rain trades at two venues and settles the same at both; on fog's grid every fill is rounded. */
export const RAIN: Contract = { venue: 'venue_a', contract_id: 'rain', outcome: 'YES' };
export const RAIN_AT_B: Contract = { venue: 'venue_b', contract_id: 'rain', outcome: 'YES' };
export const FOG: Contract = { venue: 'venue_a', contract_id: 'fog', outcome: 'YES' };

/** By name. */
export const MARKETS: ReadonlyMap<string, Contract> = new Map([
  ['rain at a', RAIN],
  ['rain at b', RAIN_AT_B],
  ['fog', FOG],
]);

export interface TickAndStep {
  readonly tick: number;
  readonly step: number;
}

export const GRIDS: ReadonlyMap<Contract, TickAndStep> = new Map([
  [RAIN, { tick: 1_000, step: 1_000_000 }],
  [RAIN_AT_B, { tick: 1_000, step: 1_000_000 }],
  [FOG, { tick: 7, step: 1_000 }],
]);

function named(name: string): string {
  return new Random(`account ${name}`).uuid();
}

export const ORIGINATORS = ['olga', 'otto'].map(named);
export const MAKERS = ['mia', 'max', 'moe', 'may'].map(named);
export const STRANGER = named('sid');

/** Makers' groups and their owners, by id. A reader of this list may own a group or not. */
export const GROUP_OWNERS: ReadonlyMap<string, string> = new Map(
  ORIGINATORS.flatMap((owner) =>
    ['first', 'second'].map((name) => [new Random(`group ${owner} ${name}`).uuid(), owner]),
  ),
);

const NAMES: ReadonlyMap<string, string> = new Map(
  ['olga', 'otto', 'mia', 'max', 'moe', 'may', 'sid'].map((name) => [named(name), name]),
);
const LONG_PAST_THE_END = '2030-01-01 00:00:00';
const NO_LIMIT = 1_000_000_000_000_000;
export const VENUES = ['venue_a', 'venue_b'];

export function nameOf(account: string): string {
  return NAMES.get(account) ?? account;
}

export interface Wealth {
  readonly collateral: number;
  readonly tokens: number;
  readonly positions: number;
  readonly exposure: number;
}

/** Where an account may trade, and the house that it belongs to. */
export interface TradingRights {
  readonly venues: readonly string[];
  readonly house: string | null;
}

export interface Furniture {
  readonly wealth: Readonly<Record<string, Wealth>>;
  /** Only makers that have set limits. */
  readonly protection: Readonly<Record<string, ProtectionRow>>;
  readonly standings: Readonly<Record<string, TradingRights>>;
  /** Members by group id. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

const NOTHING: Wealth = { collateral: 0, tokens: 0, positions: 0, exposure: 0 };

/** The initial database: a registry, a policy and all balances. */
export function furnish(tables: Tables, { wealth, protection, standings, groups }: Furniture): void {
  for (const [{ venue, contract_id, outcome }, { tick, step }] of GRIDS) {
    tables.contracts.rows.set(keyOf(venue, contract_id, outcome), {
      venue,
      contract_id,
      outcome,
      title: `${contract_id} at ${venue}`,
      equivalence_id: contract_id,
      price_tick_atoms: tick,
      quantity_step_atoms: step,
      status: 'TRADING',
      closes_at: LONG_PAST_THE_END,
    });
  }
  for (const account of [...ORIGINATORS, ...MAKERS, STRANGER]) {
    tables.principals.rows.set(account, principal(account, standings[account]));
    enrich(tables, account, wealth[account] ?? NOTHING);
  }
  for (const [maker, bounds] of Object.entries(protection)) tables.protection.rows.set(maker, bounds);
  for (const [id, members] of Object.entries(groups)) tables.groups.rows.set(id, groupOf(id, members));
}

export function groupOf(id: string, members: readonly string[]): GroupRow {
  return { group_id: id, owner: GROUP_OWNERS.get(id) ?? '', name: `group ${id}`, market_maker_ids: members };
}

function principal(account: string, standing?: TradingRights): PrincipalRow {
  const isMaker = MAKERS.includes(account);
  const isOriginator = ORIGINATORS.includes(account) || account === STRANGER;
  return {
    account_id: account,
    display_name: nameOf(account),
    is_maker: isMaker,
    is_originator: isOriginator,
    suspended: false,
    may_create: isOriginator,
    may_quote: isMaker,
    venues: standing?.venues ?? VENUES,
    max_quantity_atoms: NO_LIMIT,
    control_group: standing?.house ?? null,
  };
}

function enrich(tables: Tables, account: string, wealth: Wealth): void {
  const own = (venue: string, asset: string, amount: number): void => {
    put(tables, { account, venue, asset, amount });
    put(tables, { account: 'system:opening', venue, asset, amount: -amount });
    state(tables, keyOf(account, venue, asset === '' ? 'COLLATERAL' : 'OUTCOME_TOKEN', asset), amount);
  };
  for (const venue of VENUES) {
    own(venue, '', wealth.collateral);
    limit(tables, account, venue, 'VENUE_POSITION_LIMIT', wealth.positions);
  }
  for (const { venue, contract_id, outcome } of GRIDS.keys()) {
    if (wealth.tokens > 0) own(venue, `${contract_id}/${outcome}`, wealth.tokens);
  }
  for (const venue of VENUES) {
    const held = [...tables.balances.rows.values()]
      .filter((row) => row.account === account && row.venue === venue && row.asset !== '')
      .reduce((sum, { amount }) => sum + amount, 0);
    state(tables, keyOf(account, venue, 'VENUE_POSITION_LIMIT', ''), Math.max(0, wealth.positions - held));
  }
  limit(tables, account, '', 'SERVICE_EXPOSURE_LIMIT', wealth.exposure);
  state(tables, keyOf(account, '', 'SERVICE_EXPOSURE_LIMIT', ''), wealth.exposure);
}

function put({ balances }: Tables, { account, venue, asset, amount }: BalanceRow): void {
  const key = keyOf(account, venue, asset);
  balances.rows.set(key, { account, venue, asset, amount: (balances.rows.get(key)?.amount ?? 0) + amount });
}

function limit({ limits }: Tables, account: string, venue: string, resource: string, amount: number): void {
  limits.rows.set(keyOf(account, venue, resource), { account, venue, asset: '', amount });
}

function state({ evidence }: Tables, key: string, amount: number): void {
  evidence.rows.set(key, { amount, settled: 0, source_sequence: 1 });
}
