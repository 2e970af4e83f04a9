import type { AuctionFile } from './auction-file.js';
import { must } from './violation.js';

const FOUNDED = 'refusals are founded';

/** What somebody may run out of. */
export const KINDS_OF_WEALTH = ['collateral', 'positions', 'exposure'] as const;

export interface RefusalGrounds {
  readonly now: () => string;
  /** How far ahead an owner may be that believes its clock. */
  readonly aheadMillis: number;
  /** Whether somebody in this world may have a clock that nobody may believe: withdrawals and cancels go by it all the same. */
  readonly mayBeMisled: boolean;
  /** Whether the account has more than all that it could ever promise. */
  readonly isRich: (account: string, of: (typeof KINDS_OF_WEALTH)[number]) => boolean;
}

const FOR_WANT_OF: Readonly<Record<string, 'collateral' | 'positions'>> = {
  INSUFFICIENT_COLLATERAL: 'collateral',
  INSUFFICIENT_INVENTORY: 'collateral',
  VENUE_LIMIT_EXCEEDED: 'positions',
};

/** Whether an owner may have held that it is this late. */
export function mayBePast({ now, aheadMillis, mayBeMisled }: RefusalGrounds): (instant: string) => boolean {
  return (instant) => mayBeMisled || Date.parse(now()) + aheadMillis >= Date.parse(instant);
}

/** A refusal that names a reason which there cannot be is a fault as well: nobody is kept from trading for nothing. */
export function mayRefuse(
  grounds: RefusalGrounds,
  {
    name,
    account,
    file,
  }: { readonly name: string; readonly account: string; readonly file: AuctionFile | undefined },
  error: string,
): void {
  const { now, isRich } = grounds;
  const want = FOR_WANT_OF[error];
  must(
    want === undefined || !isRich(account, want),
    FOUNDED,
    () => `${name}: ${error} of one who has plenty`,
  );
  if (error !== 'AUCTION_NOT_OPEN' || file === undefined) return;
  const isOver = file.stage !== 'OPEN' || mayBePast(grounds)(file.terms.closes_at);
  must(isOver, FOUNDED, () => `${name}: ${error} at ${now()}, and it closes at ${file.terms.closes_at}`);
}

const MEANT = 'what is no longer meant is not done';

/** Whoever has just made something has made it while it was meant; and nothing is refused as too late that is not. */
export function mustBeMeant(
  grounds: RefusalGrounds,
  {
    name,
    notAfter,
    code,
    at,
  }: { readonly name: string; readonly notAfter: string; readonly code: string; readonly at: string },
): void {
  must(
    !code.startsWith('201') || at <= notAfter,
    MEANT,
    () => `${name}: at ${at}, and not after ${notAfter}`,
  );
  if (!code.endsWith(' COMMAND_EXPIRED')) return;
  const { now } = grounds;
  must(
    mayBePast(grounds)(notAfter),
    MEANT,
    () => `${name}: refused as too late at ${now()}, and it is meant until ${notAfter}`,
  );
}
