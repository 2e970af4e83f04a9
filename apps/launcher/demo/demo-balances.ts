import type { ContractFacts } from '#libs/auction/rules/commands.js';
import { assetOf } from '#libs/auction/rules/holds.js';
import type { Entry } from '#libs/ledger/ledger.js';
import type { LimitSeed } from '#libs/ledger/seed.js';
import type { DemoAccount } from './demo-accounts.js';
import { DEMO_VENUES } from './demo-contracts.js';

/** A million dollars at each venue. */
const COLLATERAL_ATOMS = 1_000_000_000_000;
/** Ten thousand contracts of each outcome. */
const TOKEN_ATOMS = 10_000_000_000;
const LIMIT_ATOMS = 1_000_000_000_000_000;
/** For all load accounts together at one venue: sums must stay exact as JavaScript numbers. */
const LOAD_TOTAL_ATOMS = 4_000_000_000_000_000;

/** The opening balances. Load accounts sell against collateral, so thousands of them need no inventory. */
export function demoBalances(accounts: readonly DemoAccount[], contracts: readonly ContractFacts[]): Entry[] {
  const traders = accounts.filter(isTrader);
  const loadShare = Math.floor(LOAD_TOTAL_ATOMS / Math.max(1, traders.filter(({ load }) => load).length));
  return traders.flatMap(({ account_id: account, load }) => {
    const amount = load ? Math.min(10 * COLLATERAL_ATOMS, loadShare) : COLLATERAL_ATOMS;
    const collateral = DEMO_VENUES.map((venue) => ({ account, venue, asset: '', amount }));
    if (load) return collateral;
    const tokens = contracts.map((contract) => ({
      account,
      venue: contract.venue,
      asset: assetOf(contract),
      amount: TOKEN_ATOMS,
    }));
    return [...collateral, ...tokens];
  });
}

export function demoLimits(accounts: readonly DemoAccount[]): LimitSeed[] {
  return accounts.filter(isTrader).flatMap(({ account_id: account }) => [
    ...DEMO_VENUES.map((venue) => ({
      account,
      venue,
      resource: 'VENUE_POSITION_LIMIT' as const,
      amount: LIMIT_ATOMS,
    })),
    { account, venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', amount: LIMIT_ATOMS },
  ]);
}

export function isTrader({ roles, enrolled }: DemoAccount): boolean {
  return enrolled && (roles.includes('ORIGINATOR') || roles.includes('MARKET_MAKER'));
}
