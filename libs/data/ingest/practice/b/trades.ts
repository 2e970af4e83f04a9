import type { TradeEvent } from '../../../rules/events.js';
import { FULL_PRICE } from '../../../rules/scales.js';
import { BadBody } from '../reading.js';
import type { TradeOfB } from './shapes.js';

/** One event for each match, from the side of the taker, who buys Yes or No. */
export function tradeEvent(trade: TradeOfB, received_at: number): TradeEvent {
  const { trade_id, ticker, yes_price_dollars: yes, no_price_dollars: no, count_fp: size } = trade;
  if (yes + no !== FULL_PRICE) throw new BadBody(`the prices of trade ${trade_id} do not add up to 1`);
  if (size === 0n) throw new BadBody(`trade ${trade_id} has no size`);
  const isYes = takerOf(trade) === 'yes';
  return {
    ...{ type: 'TRADE', provider: 'venue_b', market_id: ticker, source_id: trade_id },
    ...{ source_ts: trade.created_time, received_at },
    ...{ outcome_index: isYes ? 0 : 1, price: isYes ? yes : no, size, side: 'buy' },
  };
}

export function takerOf({ taker_side: old, taker_outcome_side: now }: TradeOfB): 'yes' | 'no' {
  const side = now ?? old;
  if (side === undefined) throw new BadBody('taker_side is missing');
  return side;
}
