import { describe, expect, it } from '@jest/globals';
import { momentOf, orderUuid, termsOf } from '#libs/testing/execution/cell-journal.js';
import type { OrderEvent } from '../../rules/events.js';
import { evolveOrder } from '../../rules/evolve.js';
import type { OrderState } from '../../rules/order.js';
import { holdingBookings, orderBookings, type Booking } from './postings.js';

const user_id = orderUuid('ada');
const order_id = orderUuid('sale');
const base = { at: momentOf(1), user_id, order_id };
const SALE = termsOf({ order_id, user_id, side: 'sell', quantity: 5_000_000n, price: 400_001n });

function fillOf(name: string, quantity: bigint): OrderEvent {
  const fill = {
    ...{ fill_id: name, price: 400_001n, quantity, fee: 10_000n, is_fee_told: true, venue_trade_id: name },
    ...({ liquidity: 'maker', occurred_at: momentOf(1) } as const),
  };
  return { ...base, type: 'ORDER_FILLED', fill, exchange_order_id: 'x' };
}

/** The bookings of the last event. */
function lastBookings(...events: readonly OrderEvent[]): Booking[] {
  let state: OrderState | undefined;
  let bookings: Booking[] = [];
  for (const event of events) {
    const after = evolveOrder(state, event);
    bookings = orderBookings(event, { before: state, after });
    state = after;
  }
  return bookings;
}

/** The user's own entries, without the venue's side. */
function linesOf(bookings: readonly Booking[]): string[] {
  return bookings.flatMap(({ kind, cause, entries }) =>
    entries
      .filter(({ account }) => account === user_id)
      .map((entry) => `${kind} ${cause} ${entry.asset} ${entry.kind} ${entry.amount}`),
  );
}

const ACCEPTED: OrderEvent = { ...base, type: 'ORDER_ACCEPTED', terms: SALE };
const ENDED: OrderEvent = { ...base, type: 'ORDER_ENDED', status: 'cancelled', terminal_reason: 'USER' };

describe('a sell', () => {
  it('holds its shares when it is accepted', () => {
    expect(linesOf(lastBookings(ACCEPTED))).toEqual([
      `HOLD ${order_id} RAIN:Yes position -5000000`,
      `HOLD ${order_id} RAIN:Yes held 5000000`,
    ]);
  });

  it('pays a fill out of its held shares, gets its money rounded down, and pays the fee separately', () => {
    expect(linesOf(lastBookings(ACCEPTED, fillOf('f', 1_500_000n)))).toEqual([
      'FILL f RAIN:Yes held -1500000',
      'FILL f USD available 600001',
      'FEE f USD available -10000',
      'FEE f USD fee 10000',
    ]);
  });

  it('releases its remaining shares when it ends', () => {
    expect(linesOf(lastBookings(ACCEPTED, fillOf('f', 1_500_000n), ENDED))).toEqual([
      `RELEASE ${order_id} RAIN:Yes position 3500000`,
      `RELEASE ${order_id} RAIN:Yes held -3500000`,
    ]);
  });

  it('filled after its end takes the shares from the position', () => {
    expect(linesOf(lastBookings(ACCEPTED, ENDED, fillOf('late', 2_000_000n)))[0]).toBe(
      'FILL late RAIN:Yes position -2000000',
    );
  });

  it('books a fill that is reported twice only once', () => {
    expect(lastBookings(ACCEPTED, fillOf('f', 1_000_000n), fillOf('f', 1_000_000n))).toEqual([]);
  });
});

it('a paid pair takes one share of each outcome for a dollar', () => {
  const paid = {
    at: momentOf(1),
    user_id,
    venue: 'venue_b',
    market_id: 'RAIN',
    reference: 'p',
    quantity: 2_000_000n,
  } as const;
  expect(linesOf(holdingBookings({ ...paid, type: 'PAIRS_PAID' }, ['RAIN:No', 'RAIN:Yes']))).toEqual([
    'MERGE p RAIN:No position -2000000',
    'MERGE p RAIN:Yes position -2000000',
    'MERGE p USD available 2000000',
  ]);
});
