import { createHash } from 'node:crypto';
import type { LoadAccounts } from '../config.js';
import { DEMO_VENUES } from './demo-contracts.js';

export const DEMO_PASSWORD = 'sotto-demo';

export type DemoRole = 'ORIGINATOR' | 'MARKET_MAKER' | 'OPERATOR' | 'AUDITOR' | 'VIEWER';

/**
 * How a demo user starts at the venues: `ready` is linked with money, `small` and `poor` with less, `new` is
 * not linked.
 */
export type DemoTrading = 'ready' | 'poor' | 'new' | 'small';

export interface DemoAccount {
  readonly account_id: string;
  readonly email: string;
  readonly display_name: string;
  readonly roles: readonly DemoRole[];
  /** Whether its sessions have the two capabilities of the auction service. */
  readonly capable: boolean;
  readonly enrolled: boolean;
  /** Whether it may read market data. */
  readonly invited: boolean;
  readonly venues: readonly string[];
  readonly control_group?: string;
  /** Absent for accounts that do not trade. */
  readonly trading?: DemoTrading;
  /** Belongs to a load test, not to a person. */
  readonly load: boolean;
}

/**
 * maker-8 and originator-1 belong to one house, so maker-8 must never be invited to auctions of originator-1.
 */
const SAME_HOUSE: ReadonlySet<string> = new Set(['originator-1', 'maker-8']);

export function demoAccounts(load: LoadAccounts | undefined): DemoAccount[] {
  return [
    ...numbered(3, (n) => person(`originator-${n}`, `Originator ${n}`, ['ORIGINATOR'])),
    ...numbered(8, (n) => person(`maker-${n}`, `Market Maker ${n}`, ['MARKET_MAKER'])),
    person('operator-1', 'Operator 1', ['OPERATOR']),
    person('auditor-1', 'Auditor 1', ['AUDITOR']),
    // A maker without a venue: eligible for no auction.
    person('outsider-1', 'Outsider 1', ['MARKET_MAKER'], { venues: [] }),
    person('viewer-1', 'Viewer 1', ['VIEWER'], { capable: false }),
    ...numbered(4, (n) => trader(`trader-${n}`, `Trader ${n}`, 'ready')),
    trader('trader-poor', 'Trader with little money', 'poor'),
    trader('trader-new', 'Trader who begins', 'new'),
    person('stranger-1', 'Stranger 1', [], { enrolled: false, venues: [] }),
    person('uninvited-1', 'Not invited 1', [], NOT_INVITED),
    ...numbered(load?.makers ?? 0, (n) =>
      person(`load-maker-${n}`, `Load Maker ${n}`, ['MARKET_MAKER'], LOAD),
    ),
    ...numbered(load?.originators ?? 0, (n) =>
      person(`load-originator-${n}`, `Load Originator ${n}`, ['ORIGINATOR'], LOAD),
    ),
  ];
}

const LOAD = { load: true };
const NOT_INVITED = { enrolled: false, capable: false, venues: [], invited: false };
/** Auction accounts that trade orders as well. */
const ALSO_TRADE: ReadonlySet<string> = new Set(['originator-1', 'maker-1']);

/** A trader without a role in auctions. */
function trader(name: string, displayName: string, trading: DemoTrading): DemoAccount {
  return person(name, displayName, [], { enrolled: false, capable: false, venues: [], trading });
}

function person(
  name: string,
  displayName: string,
  roles: readonly DemoRole[],
  differing: Partial<DemoAccount> = {},
): DemoAccount {
  const email = `${name}@demo.sotto`;
  return {
    account_id: accountIdOf(email),
    email,
    display_name: displayName,
    roles,
    capable: true,
    enrolled: true,
    invited: true,
    venues: DEMO_VENUES,
    load: false,
    ...(ALSO_TRADE.has(name) ? { trading: 'small' as const } : {}),
    ...(SAME_HOUSE.has(name) ? { control_group: 'demo-house-1' } : {}),
    ...differing,
  };
}

function numbered<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}

/** The same id at every start and on every machine. */
function accountIdOf(email: string): string {
  const hex = createHash('sha256').update(`sotto demo account ${email}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
