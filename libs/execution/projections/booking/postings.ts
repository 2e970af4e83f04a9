import type { HoldingEvent, MovementKind, OrderEvent, TransferTerms } from '../../rules/events.js';
import { remainingOf } from '../../rules/evolve.js';
import { tokenOf } from '../../rules/holdings.js';
import { leastOf, timesMicros, type Micros } from '../../rules/micros.js';
import { isTerminal, type OrderFill, type OrderState } from '../../rules/order.js';
import { CAPABILITIES, type VenueId } from '../../rules/venues.js';
import { countsFill, type OrderStep } from '../order-fold.js';

/** The counterpart of everything a venue pays or takes, and of transfers between the vault and a trading domain. */
const VENUE = 'system:venue';
const BRIDGE = 'system:bridge';

type BookingKind =
  | ('DEPOSIT' | 'WITHDRAWAL' | 'TRANSFER' | 'FILL' | 'FEE')
  | ('HOLD' | 'RELEASE' | 'MERGE' | 'REDEEM' | 'EXTERNAL');
type AccountKind = 'available' | 'held' | 'in_transit' | 'position' | 'fee' | 'external';

export interface BookingEntry {
  readonly account: string;
  readonly venue: VenueId;
  readonly asset: string;
  readonly kind: AccountKind;
  readonly amount: Micros;
}

/** One transaction of the ledger. Its entries sum to zero for each asset. */
export interface Booking {
  readonly kind: BookingKind;
  readonly cause: string;
  readonly entries: readonly BookingEntry[];
}

/** Collects entries of one user at one venue. */
class Lines {
  private readonly entries: BookingEntry[] = [];
  readonly currency: string;

  constructor(
    private readonly user: string,
    private readonly venue: VenueId,
  ) {
    this.currency = CAPABILITIES[venue].settlement_currency;
  }

  add(asset: string, kind: AccountKind, amount: Micros, account = this.user): this {
    if (amount !== 0n) this.entries.push({ account, venue: this.venue, asset, kind, amount });
    return this;
  }

  /** Moves an amount from one of the user's accounts to another. */
  move(asset: string, from: AccountKind, to: AccountKind, amount: Micros): this {
    return this.add(asset, from, -amount).add(asset, to, amount);
  }

  /** Enters an amount from outside. A negative amount goes out. */
  enter(asset: string, kind: AccountKind, amount: Micros, from = VENUE): this {
    return this.add(asset, kind, amount).add(asset, 'external', -amount, from);
  }

  booked(kind: BookingKind, cause: string): Booking[] {
    return this.entries.length === 0 ? [] : [{ kind, cause, entries: this.entries }];
  }

  /** The account of an asset that nothing has reserved. */
  kindOf(asset: string): AccountKind {
    return asset === this.currency ? 'available' : 'position';
  }
}

/** The shares that an order keeps other orders from selling. */
function reservedBy(order: OrderState | undefined): Micros {
  return order === undefined || isTerminal(order) || order.terms.side === 'buy' ? 0n : remainingOf(order);
}

/** Bookings of an order's event: its fill, and the change of the shares it holds. */
export function orderBookings(event: OrderEvent, step: OrderStep): Booking[] {
  const { before, after } = step;
  const reserved = reservedBy(before);
  const fill = event.type === 'ORDER_FILLED' && countsFill(step) ? event.fill : undefined;
  const taken = fill === undefined ? 0n : leastOf(fill.quantity, reserved);
  const { order_id, user_id, venue } = after.terms;
  const change = reservedBy(after) - (reserved - taken);
  const lines = new Lines(user_id, venue).move(tokenOf(after.terms), 'position', 'held', change);
  return [
    ...(fill === undefined ? [] : fillBookings(after, fill, taken)),
    ...lines.booked(change > 0n ? 'HOLD' : 'RELEASE', order_id),
  ];
}

/** `taken` is the part of the fill that the order had held. The fee is a transaction of its own. */
function fillBookings({ terms }: OrderState, fill: OrderFill, taken: Micros): Booking[] {
  const { user_id, venue, side } = terms;
  const { price, quantity, fee, fill_id } = fill;
  const lines = new Lines(user_id, venue);
  const token = tokenOf(terms);
  if (side === 'buy') {
    const cost = timesMicros(price, quantity, 'up');
    lines.enter(lines.currency, 'available', -cost).enter(token, 'position', quantity);
  } else {
    lines.add(token, 'held', -taken).add(token, 'position', taken - quantity);
    lines.add(token, 'external', quantity, VENUE);
    lines.enter(lines.currency, 'available', timesMicros(price, quantity, 'down'));
  }
  const charged = new Lines(user_id, venue).move(lines.currency, 'available', 'fee', fee);
  return [...lines.booked('FILL', fill_id), ...charged.booked('FEE', fill_id)];
}

const MOVEMENTS: Readonly<Record<MovementKind, BookingKind>> = {
  DEPOSIT: 'DEPOSIT',
  WITHDRAWAL: 'WITHDRAWAL',
  EXTERNAL_TRANSFER: 'EXTERNAL',
  EXTERNAL_REDEMPTION: 'EXTERNAL',
};

/** The trading side's record of a transfer. */
export interface BookedTransfer {
  readonly terms: TransferTerms;
  readonly user: string;
  readonly is_sent: boolean;
}

/** Bookings of holdings that change other than by orders and transfers. `pair` has the tokens of both outcomes. */
export function holdingBookings(event: HoldingEvent, pair: readonly string[]): Booking[] {
  const lines = new Lines(event.user_id, event.venue);
  switch (event.type) {
    case 'BALANCE_MOVED': {
      const { asset, amount, movement, entry_id } = event;
      return lines.enter(asset, lines.kindOf(asset), amount).booked(MOVEMENTS[movement], entry_id);
    }
    case 'PAIRS_PAID':
      for (const token of pair) lines.enter(token, 'position', -event.quantity);
      return lines.enter(lines.currency, 'available', event.quantity).booked('MERGE', event.reference);
    case 'POSITION_PAID':
      lines.enter(tokenOf(event), 'position', -event.quantity);
      return lines.enter(lines.currency, 'available', event.payout).booked('REDEEM', event.reference);
    default:
      return [];
  }
}

export type TransferEvent = Extract<HoldingEvent, { readonly type: `TRANSFER_${string}` }>;

/**
 * Bookings on the trading side. Outgoing amounts are held, then in transit. Incoming amounts are booked only on
 * arrival.
 */
export function transferBookings(
  { type, user_id, venue }: TransferEvent,
  { terms, is_sent: isSent }: BookedTransfer,
): Booking[] {
  const { asset, amount, direction, transfer_id } = terms;
  const lines = new Lines(user_id, venue);
  const owned = lines.kindOf(asset);
  const under = isSent ? 'in_transit' : 'held';
  if (direction === 'from_vault') {
    if (type === 'TRANSFER_COMPLETED') lines.enter(asset, owned, amount, BRIDGE);
  } else if (type === 'TRANSFER_HELD') {
    lines.move(asset, owned, 'held', amount);
  } else if (type === 'TRANSFER_SENT') {
    if (!isSent) lines.move(asset, 'held', 'in_transit', amount);
  } else if (type === 'TRANSFER_COMPLETED') {
    lines.enter(asset, under, -amount, BRIDGE);
  } else {
    lines.move(asset, under, owned, amount);
  }
  return lines.booked('TRANSFER', transfer_id);
}
