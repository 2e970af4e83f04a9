import type { CellEvent } from '../rules/events.js';
import type { Holdings, Position } from '../rules/holdings.js';
import { printMicros } from '../rules/micros.js';
import type { OrderState } from '../rules/order.js';
import { fillRecord, printTime } from '../rules/record.js';
import { CAPABILITIES } from '../rules/venues.js';
import { fillId } from '../venues/fill-id.js';
import type { FillRow } from './tables/fills.js';

type EventOf<Type extends CellEvent['type']> = Extract<CellEvent, { type: Type }>;

export function fillRow(
  { terms }: OrderState,
  { position, event: { fill } }: { readonly position: number; readonly event: EventOf<'ORDER_FILLED'> },
): FillRow {
  const { user_id, order_id, venue, market_id } = terms;
  return {
    ...{ fill_id: fill.fill_id, user_id, order_id, position, leg: 0 },
    ...{ exchange_id: venue, market_id, record: fillRecord({ terms }, fill) },
  };
}

const HALF = 500_000n;

/** The fills of a paid pair: both outcomes sold at half a dollar, without an order. */
export function pairRows(
  before: Holdings,
  { position, event }: { readonly position: number; readonly event: EventOf<'PAIRS_PAID'> },
): FillRow[] {
  const { user_id, venue, market_id } = event;
  return pairOf(before, event).map((held, leg) => {
    const fill_id = fillId(venue, { venue_trade_id: event.reference, exchange_order_id: '', leg });
    const record = pairRecord(event, held, fill_id);
    return { fill_id, user_id, order_id: undefined, position, leg, exchange_id: venue, market_id, record };
  });
}

/** Yes before No, as in the market's record. */
export function pairOf(
  { positions }: Holdings,
  { venue, market_id }: EventOf<'PAIRS_PAID'>,
): readonly Position[] {
  return [...positions.values()]
    .filter((held) => held.venue === venue && held.market_id === market_id && held.quantity > 0n)
    .sort((one, other) => (one.outcome > other.outcome ? -1 : 1));
}

function pairRecord(
  { venue, market_id, quantity, reference, at }: EventOf<'PAIRS_PAID'>,
  { outcome, token_id }: Position,
  fill_id: string,
): Record<string, unknown> {
  return {
    ...{ fill_id, order_id: null, exchange_id: venue, market_id },
    ...(token_id === undefined ? {} : { token_id }),
    ...{ outcome, side: 'sell', price: printMicros(HALF), quantity: printMicros(quantity) },
    fee: { amount: '0', currency: CAPABILITIES[venue].settlement_currency },
    ...{
      liquidity: 'taker',
      venue_trade_id: reference,
      settlement_status: 'not_applicable',
      synthetic: true,
    },
    occurred_at: printTime(at),
  };
}
