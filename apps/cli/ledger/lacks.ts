import type { AccountEntry } from '../accounts/account-service.js';

export interface BalanceLine {
  readonly account_id: string;
  readonly venue: string;
  readonly asset: string;
  readonly amount_atoms: number;
}

export interface LimitLine {
  readonly account_id: string;
  /** Empty for the limit over all venues. */
  readonly venue: string;
  readonly resource: 'VENUE_POSITION_LIMIT' | 'SERVICE_EXPOSURE_LIMIT';
  readonly amount_atoms: number;
}

export interface OpeningLine extends BalanceLine {
  readonly reference: string;
}

/** A resource that admission checks, and whether the ledger's evidence for it is still valid. */
export interface EvidenceLine {
  readonly account_id: string;
  readonly venue: string;
  readonly resource: string;
  readonly asset: string;
  readonly holds: boolean;
}

export interface OwnLines {
  readonly balances: readonly BalanceLine[];
  readonly limits: readonly LimitLine[];
  readonly evidence: readonly EvidenceLine[];
}

/**
 * Why admission would refuse the account, in the order in which an operator would fix it. Empty for an
 * account that does not trade.
 */
export function lacksOf(
  account: AccountEntry | undefined,
  own: OwnLines,
  tradingVenues: ReadonlySet<string>,
): string[] {
  if (account === undefined) return ['is not added: npm run accounts -- add ... --account-id'];
  if (!account.roles.some((role) => role === 'ORIGINATOR' || role === 'MARKET_MAKER')) return [];
  return [
    ...accountLacks(account),
    ...account.venues.flatMap((venue) => venueLacks(venue, own, tradingVenues)),
  ]
    .concat(hasLimit(own, '') ? [] : ['no limit over all venues'])
    .concat(evidenceLacks(account, own));
}

function accountLacks(account: AccountEntry): string[] {
  const conditions: readonly (readonly [boolean, string])[] = [
    [!account.disabled, 'is disabled'],
    [account.enrolled, 'is not enrolled'],
    [!account.suspended, 'is suspended'],
    [account.capabilities.length > 0, 'has no capability'],
    [account.venues.length > 0, 'has no venue'],
    [account.max_quantity_atoms > 0, 'has no quantity limit'],
  ];
  return conditions.filter(([isThere]) => !isThere).map(([, otherwise]) => otherwise);
}

function venueLacks(venue: string, own: OwnLines, tradingVenues: ReadonlySet<string>): string[] {
  const isFunded = own.balances.some(
    (line) => line.venue === venue && line.asset === '' && line.amount_atoms > 0,
  );
  return [
    ...(tradingVenues.has(venue) ? [] : [`no contract trades on ${venue}`]),
    ...(isFunded ? [] : [`no collateral on ${venue}`]),
    ...(hasLimit(own, venue) ? [] : [`no limit on ${venue}`]),
  ];
}

function hasLimit({ limits }: OwnLines, venue: string): boolean {
  return limits.some((line) => line.venue === venue && line.amount_atoms > 0);
}

/** Only settlers renew evidence. */
function evidenceLacks({ venues }: AccountEntry, { balances, limits, evidence }: OwnLines): string[] {
  const holds = (venue: string, resource: string): boolean =>
    evidence.some((line) => line.venue === venue && line.resource === resource && line.holds);
  const concerns = (venue: string): boolean => venue === '' || venues.some((allowed) => allowed === venue);
  const areOutdated =
    limits.some(({ venue, resource }) => concerns(venue) && !holds(venue, resource)) ||
    balances.some(({ venue, asset }) => asset === '' && concerns(venue) && !holds(venue, 'COLLATERAL'));
  return areOutdated ? ['evidence is missing or out of date: does a settler run?'] : [];
}
