import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import type { Grid, Terms } from '../terms.js';

export interface ProposedTerms {
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly min_quantity_atoms?: Atoms;
  readonly expires_at?: Instant;
}

/** Checks the price, then the quantity, against the auction's grid and size. */
export function checkQuoteTerms(terms: Terms, proposed: ProposedTerms): Rejection | undefined {
  return (
    checkPrice(terms.grid, proposed.price_atoms) ??
    checkQuantity(terms, proposed.quantity_atoms) ??
    checkMinimum(terms, proposed)
  );
}

export function checkPrice(grid: Grid, price: Atoms): Rejection | undefined {
  if (price < grid.min_price_atoms || price > grid.max_price_atoms) {
    return rejected(
      'PRICE_OUT_OF_RANGE',
      `The price must lie between ${grid.min_price_atoms} and ${grid.max_price_atoms} atoms.`,
    );
  }
  if (price % grid.price_tick_atoms !== 0) {
    return rejected('INVALID_PRICE_TICK', `The price must be a multiple of ${grid.price_tick_atoms} atoms.`);
  }
  return undefined;
}

function checkQuantity({ grid, quantity_atoms: size }: Terms, quantity: Atoms): Rejection | undefined {
  if (quantity === 0 || quantity % grid.quantity_step_atoms !== 0) {
    return rejected(
      'INVALID_QUANTITY_STEP',
      `The quantity must be a positive multiple of ${grid.quantity_step_atoms} atoms.`,
    );
  }
  return quantity > size
    ? rejected('UNAUTHORIZED_SIZE', `The quantity must not exceed the ${size} atoms of the auction.`)
    : undefined;
}

function checkMinimum({ grid }: Terms, proposed: ProposedTerms): Rejection | undefined {
  const minimum = proposed.min_quantity_atoms;
  if (minimum === undefined) return undefined;
  if (minimum === 0 || minimum % grid.quantity_step_atoms !== 0) {
    return rejected(
      'INVALID_QUANTITY_STEP',
      `The minimum quantity must be a positive multiple of ${grid.quantity_step_atoms} atoms.`,
    );
  }
  return minimum > proposed.quantity_atoms
    ? rejected('QUANTITY_BELOW_MINIMUM', 'The quantity is below its own minimum.')
    : undefined;
}

/** Only quotes that may be withdrawn may expire. */
export function checkExpiry(
  terms: Terms,
  expiresAt: Instant | undefined,
  now: Instant,
): Rejection | undefined {
  if (expiresAt === undefined) return undefined;
  if (terms.quote_revision_policy !== 'FREE') {
    return rejected('INVALID_TERMS', 'Quotes of this auction do not expire before it closes.');
  }
  return expiresAt <= now ? rejected('INVALID_TERMS', 'expires_at must lie in the future.') : undefined;
}
