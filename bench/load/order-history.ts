import type { Instant } from '#libs/base/instant.js';
import type { OrderEvent } from '#libs/execution/rules/events.js';
import type { VenueCall } from '#libs/execution/rules/order.js';
import { fillId } from '#libs/execution/venues/fill-id.js';
import { orderUuid, termsOf } from '#libs/testing/execution/cell-journal.js';

export interface OrderHistoryOf {
  readonly number: number;
  readonly user_id: string;
  /** The time of a step. Later steps have later times. */
  readonly from: (step: number) => Instant;
}

const STEPS = 8;
const MARKETS = 50;

/**
 * One order from acceptance to its end, as a cell journals it. Every other one is filled, the rest are
 * cancelled.
 */
export function orderHistory({ number, user_id, from }: OrderHistoryOf): OrderEvent[] {
  const order_id = orderUuid(`bench order ${number}`);
  const exchange_order_id = orderUuid(`at the venue ${number}`);
  const terms = termsOf({ order_id, user_id, market_id: `RAIN-${number % MARKETS}` });
  const { quantity, price } = terms;
  let step = number * STEPS;
  const base = (): { at: Instant; user_id: string; order_id: string } => {
    step += 1;
    return { at: from(step), user_id, order_id };
  };
  const call = (operation: 'submit' | 'cancel'): VenueCall =>
    callOf(operation, exchange_order_id, from(step));
  const begun: OrderEvent[] = [
    { ...base(), type: 'ORDER_ACCEPTED', terms },
    {
      ...base(),
      ...({
        type: 'SUBMISSION_STARTED',
        attempt: 1,
        venue_client_id: order_id,
        sent: { quantity, price },
      } as const),
    },
    { ...base(), type: 'ORDER_PLACED', exchange_order_id, call: call('submit') },
  ];
  if (number % 2 === 0) {
    const venue_trade_id = orderUuid(`trade ${number}`);
    const fill = {
      ...{ fill_id: fillId('venue_b', { venue_trade_id, exchange_order_id }), venue_trade_id },
      ...{ price, quantity, fee: 170_000n },
      ...({ is_fee_told: true, liquidity: 'maker', occurred_at: from(step) } as const),
    };
    return [...begun, { ...base(), type: 'ORDER_FILLED', fill, exchange_order_id }];
  }
  return [
    ...begun,
    { ...base(), type: 'CANCEL_REQUESTED', cause: 'USER' },
    {
      ...base(),
      ...({ type: 'ORDER_ENDED', status: 'cancelled', terminal_reason: 'USER' } as const),
      call: call('cancel'),
    },
  ];
}

/** As long as an answer of the practice venue. */
function callOf(operation: 'submit' | 'cancel', order_id: string, at: Instant): VenueCall {
  return {
    ...{ operation, request_sha256: 'ab'.repeat(32), signed_at: at, sent_at: at, answered_at: at },
    ...{ http_status: 200 },
    raw: {
      order_id,
      client_order_id: order_id,
      fill_count: '0.00',
      remaining_count: '10.00',
      ts_ms: 1_795_000_000,
    },
  };
}
