import type { FeeSchedule, FillLiquidity } from '../../matching/exchange.js';
import { ONE_DOLLAR, type PriceMicros, type SizeMicros } from '../../matching/order-book.js';

/** Seven hundredths of price times (1 - price), a quarter of that for makers. In millionths. */
const RATE: Readonly<Record<FillLiquidity, bigint>> = { taker: 70_000n, maker: 17_500n };
/** In the engine's unit of cash. */
const CENT = 10_000_000_000n;
const CASH_OF_RATE = 1_000_000_000_000n;

function fee(price: PriceMicros, size: SizeMicros, liquidity: FillLiquidity): bigint {
  const uncertain = BigInt(price) * BigInt(ONE_DOLLAR - price) * BigInt(size);
  const unit = CASH_OF_RATE * CENT;
  return ((RATE[liquidity] * uncertain + unit - 1n) / unit) * CENT;
}

/** The venue's fees: per trade, rounded up to the cent. */
export const FEES_OF_B: FeeSchedule = {
  fee,
  most: (limit, size) => fee(Math.min(limit, ONE_DOLLAR / 2), size, 'taker'),
};
