import { PROVIDER_FACTS, type Provider } from '../../rules/providers.js';
import { cents, displayed, dollars, unit } from '../../rules/scales.js';
import type { OutcomeNow } from '../../store/price-reader.js';
import type { TotalVolume } from '../../store/volume-reader.js';

export interface BatchPrice {
  /** In cents for venue_b, else 0 to 1. */
  readonly price: number;
  /** Formatted for display; null if nothing has traded. */
  readonly volume: string | null;
  /** In dollars. */
  readonly liquidity: number | null;
}

/** Undefined if the outcome has no price. */
export function batchPrice(
  provider: Provider,
  { price, liquidity }: Pick<OutcomeNow, 'price' | 'liquidity'>,
  { cash, trades }: TotalVolume,
): BatchPrice | undefined {
  if (price === null) return undefined;
  const inCents = PROVIDER_FACTS[provider].batchPrices === 'cents';
  return {
    price: inCents ? cents(price.price) : unit(price.price),
    volume: trades === 0n ? null : displayed(cash),
    liquidity: liquidity === null ? null : dollars(liquidity),
  };
}
