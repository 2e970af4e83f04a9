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

/** Of a resource about which admission asks: whether the ledger's word on it still holds. */
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

/** What admission would refuse the account for, in the order in which an operator would mend it. Empty for an account that does not trade. */
export function lacksOf(
  account: AccountEntry | undefined,
  own: OwnLines,
  tradingVenues: ReadonlySet<string>,
): string[] {
  if (account === undefined) return ['is not entered: npm run accounts -- add ... --account-id'];
  if (!account.roles.some((role) => role === 'ORIGINATOR' || role === 'MARKET_MAKER')) return [];
  return [...standingOf(account), ...account.venues.flatMap((venue) => onVenue(venue, own, tradingVenues))]
    .concat(hasLimit(own, '') ? [] : ['no limit over all venues'])
    .concat(outdatedOf(account, own));
}

function standingOf(account: AccountEntry): string[] {
  const wanted: readonly (readonly [boolean, string])[] = [
    [!account.disabled, 'is disabled'],
    [account.enrolled, 'is not enrolled'],
    [!account.suspended, 'is suspended'],
    [account.capabilities.length > 0, 'has no capability'],
    [account.venues.length > 0, 'may trade on no venue'],
    [account.max_quantity_atoms > 0, 'may trade no quantity'],
  ];
  return wanted.filter(([isThere]) => !isThere).map(([, otherwise]) => otherwise);
}

function onVenue(venue: string, own: OwnLines, tradingVenues: ReadonlySet<string>): string[] {
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

/** Only settlers renew the evidence of the ledger, again and again. */
function outdatedOf({ venues }: AccountEntry, { balances, limits, evidence }: OwnLines): string[] {
  const holds = (venue: string, resource: string): boolean =>
    evidence.some((line) => line.venue === venue && line.resource === resource && line.holds);
  const concerns = (venue: string): boolean => venue === '' || venues.some((allowed) => allowed === venue);
  const areOutdated =
    limits.some(({ venue, resource }) => concerns(venue) && !holds(venue, resource)) ||
    balances.some(({ venue, asset }) => asset === '' && concerns(venue) && !holds(venue, 'COLLATERAL'));
  return areOutdated ? ['evidence is missing or out of date: does a settler run?'] : [];
}
