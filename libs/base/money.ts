/** Collateral or quantity atoms: an integer between 0 and 2^53-1. Products go through bigint. */
export type Atoms = number;

/** One contract in quantity atoms, and also its payout in collateral atoms. */
export const ATOMS_PER_CONTRACT = 1_000_000;
export const PAYOUT_ATOMS = 1_000_000;
export const HIGHEST_PRICE_ATOMS = PAYOUT_ATOMS - 1;

const PER_CONTRACT = BigInt(ATOMS_PER_CONTRACT);

/** What a payer owes for `quantity` at `price`. Rounding goes against the payer. */
export function owed(price: Atoms, quantity: Atoms): Atoms {
  return Number((BigInt(price) * BigInt(quantity) + PER_CONTRACT - 1n) / PER_CONTRACT);
}

/** What a seller without outcome tokens pays to have them issued: the payout less the buyer's price. */
export function issueCost(price: Atoms, quantity: Atoms): Atoms {
  return owed(PAYOUT_ATOMS - price, quantity);
}

/** The largest quantity whose cost at `unitCost` stays within `funds`. */
export function affordable(funds: Atoms, unitCost: Atoms): Atoms {
  if (funds <= 0) return 0;
  const quantity = (BigInt(funds) * PER_CONTRACT) / BigInt(unitCost);
  return quantity > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(quantity);
}

/** Price per contract averaged over fills by quantity, rounded half up. */
export function averagePrice(fills: readonly { price: Atoms; quantity: Atoms }[]): Atoms {
  let value = 0n;
  let quantity = 0n;
  for (const fill of fills) {
    value += BigInt(fill.price) * BigInt(fill.quantity);
    quantity += BigInt(fill.quantity);
  }
  return Number((2n * value + quantity) / (2n * quantity));
}
