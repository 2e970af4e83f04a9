import { dividedBy, ONE, type Micros } from './micros.js';
import type { VenueId } from './venues.js';

export type Liquidity = 'maker' | 'taker';

const CENT = 10_000n;
/** Venue b: seven hundredths of price times (one less price). Makers pay a quarter of that. */
const B_RATE: Readonly<Record<Liquidity, bigint>> = { taker: 70_000n, maker: 17_500n };
/** Venue a: two hundredths of the same product, for takers only. */
const A_RATE = 20_000n;

/** The venue's fee for one fill, in the settlement currency. It depends on the price of the traded outcome. */
export function feeOf(
  venue: VenueId,
  {
    price,
    quantity,
    liquidity,
  }: { readonly price: Micros; readonly quantity: Micros; readonly liquidity: Liquidity },
): Micros {
  const uncertain = quantity * price * (ONE - price);
  if (venue === 'venue_b')
    return dividedBy(B_RATE[liquidity] * uncertain, ONE * ONE * ONE * CENT, 'up') * CENT;
  if (venue === 'venue_a' && liquidity === 'taker')
    return dividedBy(A_RATE * uncertain, ONE * ONE * ONE, 'up');
  return 0n;
}
