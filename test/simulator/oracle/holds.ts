import type { RawHold, RawTerms } from './raw-events.js';

const MILLION = 1_000_000n;

/** The product of price and quantity in whole numbers, rounded up. */
export function rounded(price: number, quantity: number): number {
  const product = BigInt(price) * BigInt(quantity);
  return Number(product / MILLION) + (product % MILLION === 0n ? 0 : 1);
}

interface Trade {
  readonly side: 'BUY' | 'SELL';
  readonly price: number;
  readonly quantity: number;
  /** The number of fills, each rounded up. */
  readonly parts: number;
}

export function nameOf(account: string, { venue, resource, asset }: Omit<RawHold, 'amount'>): string {
  return [account, venue, resource, asset].join('\u0000');
}

/** The fault of a hold for such a trade, or undefined. Tokens are used first; collateral covers the rest. */
export function faultOfHold(terms: RawTerms, trade: Trade, hold: readonly RawHold[]): string | undefined {
  const { side, price, quantity, parts } = trade;
  const expected = new Map<string, number>();
  for (const { venue, contract_id: contract, outcome } of terms.routes) {
    const asset = `${contract}/${outcome}`;
    const tokens = side === 'SELL' ? amountIn(hold, venue, 'OUTCOME_TOKEN', asset) : 0;
    if (tokens > quantity) return `${tokens} tokens for ${quantity}`;
    if (tokens > 0) expected.set(nameOf('', { venue, resource: 'OUTCOME_TOKEN', asset }), tokens);
    const unit = side === 'BUY' ? price : 1_000_000 - price;
    const cost = quantity === tokens ? 0 : rounded(unit, quantity - tokens) + parts - 1;
    const collateral = nameOf('', { venue, resource: 'COLLATERAL', asset: '' });
    const most = Math.max(expected.get(collateral) ?? 0, cost);
    if (most > 0) expected.set(collateral, most);
    expected.set(nameOf('', { venue, resource: 'VENUE_POSITION_LIMIT', asset: '' }), quantity);
  }
  const unit = side === 'BUY' ? price : 1_000_000 - price;
  const exposure = { venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '' };
  expected.set(nameOf('', exposure), rounded(unit, quantity) + parts - 1);
  const held = new Map(hold.map((one) => [nameOf('', one), one.amount]));
  if (held.size !== hold.length) return 'a resource is listed twice';
  for (const [name, amount] of expected) {
    if (held.get(name) !== amount)
      return `${name.replaceAll('\u0000', '/')}: ${held.get(name) ?? 0} instead of ${amount}`;
  }
  return held.size === expected.size ? undefined : 'it holds more than the trade needs';
}

export function amountIn(hold: readonly RawHold[], venue: string, resource: string, asset: string): number {
  return hold
    .filter((one) => one.venue === venue && one.resource === resource && one.asset === asset)
    .reduce((sum, { amount }) => sum + amount, 0);
}
