import { feeOf } from '../rules/fees.js';
import { leastOf, ONE, timesMicros, type Micros } from '../rules/micros.js';
import type { OrderTerms } from '../rules/order.js';
import type { VenueAccount } from '../venues/port.js';

interface CollateralMove {
  readonly from: number;
  readonly to: number;
  readonly amount: Micros;
}

const HALF = ONE / 2n;

/** The highest cost of a purchase: its bound and the taker's fee. */
export function mostCost(
  { venue }: OrderTerms,
  { quantity, price }: { readonly quantity: Micros; readonly price: Micros },
): Micros {
  const fee = feeOf(venue, { price: leastOf(price, HALF), quantity, liquidity: 'taker' });
  return timesMicros(quantity, price, 'up') + fee;
}

/**
 * The collateral to move to the market's shard. `short` if the shard has too little and nothing may be moved. Nothing
 * is moved if no other shard has enough: the venue then refuses the order.
 */
export function neededMove(
  terms: OrderTerms,
  cost: Micros,
  free: ReadonlyMap<number, Micros>,
): CollateralMove | 'short' | undefined {
  const { shard: to } = terms.market;
  if (to === undefined) return undefined;
  const missing = cost - (free.get(to) ?? 0n);
  if (missing <= 0n) return undefined;
  if (!terms.shard_funding) return 'short';
  const [from] = [...free].find(([shard, has]) => shard !== to && has >= missing) ?? [];
  return from === undefined ? undefined : { from, to, amount: missing };
}

/** Moves the missing collateral to the market's shard. False if it has too little and moving is not allowed. */
export async function fundShard(
  account: VenueAccount,
  terms: OrderTerms,
  sent: { readonly quantity: Micros; readonly price: Micros },
  reference: string,
): Promise<boolean> {
  if (terms.side !== 'buy' || terms.market.shard === undefined) return true;
  if (account.freeCollateral === undefined || account.moveCollateral === undefined) return true;
  const move = neededMove(terms, mostCost(terms, sent), await account.freeCollateral());
  if (move === 'short') return false;
  if (move !== undefined) await account.moveCollateral(move.from, move.to, move.amount, reference);
  return true;
}
