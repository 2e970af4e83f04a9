import { plusMillis, type Instant } from '#libs/base/instant.js';
import { remainingOf } from './evolve.js';
import { averageBps, positionKey, realizedPnl, tokenOf, type Holdings, type Position } from './holdings.js';
import { mostOf, printMicros, type Micros } from './micros.js';
import type { OrderState, OrderTerms } from './order.js';
import { printTime } from './record.js';
import type { UserState } from './user.js';
import type { VenueId } from './venues.js';

const CLOSED_KEPT_MILLIS = 30 * 24 * 3_600_000;

/** The key of the position that an order trades. */
export function keyOfOrder({ links }: Holdings, terms: OrderTerms): string {
  return positionKey(terms.venue, terms, links.get(terms.venue)?.account ?? '');
}

/** Whether the order's state at the venue is unknown. */
export function isInDoubt({ status, cancel, stalled_since }: OrderState): boolean {
  return status === 'pending_venue' || cancel?.before === 'pending_venue' || stalled_since !== undefined;
}

/** After this time every venue shows an order that was sent to it. */
const VISIBLE_WITHIN_MILLIS = 1_000;

/**
 * An order that is queued or being sent is fully reserved, so its state counts as known and other sells go on.
 * It counts as unknown once a send stays unanswered for longer than the venue needs to show the order.
 */
function isUnknown(order: OrderState, at: Instant): boolean {
  const { status, cancel, begun_at } = order;
  const isSending = (cancel?.before ?? status) === 'submitting';
  const isLate = begun_at !== undefined && plusMillis(begun_at, VISIBLE_WITHIN_MILLIS) <= at;
  return isInDoubt(order) || (isSending && isLate);
}

interface Reserved {
  readonly quantity: Micros;
  /** Whether the state of every live order of the position is known. */
  readonly isVerified: boolean;
}

const NOTHING: Reserved = { quantity: 0n, isVerified: true };

/** How much of each position is reserved by live sells and transfers to the vault. */
export function reservations({ live, holdings }: UserState, at: Instant): ReadonlyMap<string, Reserved> {
  const reserved = new Map<string, Reserved>();
  for (const order of live.values()) {
    const key = keyOfOrder(holdings, order.terms);
    const { quantity, isVerified } = reserved.get(key) ?? NOTHING;
    const taken = order.terms.side === 'sell' ? remainingOf(order) : 0n;
    reserved.set(key, { quantity: quantity + taken, isVerified: isVerified && !isUnknown(order, at) });
  }
  for (const { terms, status } of holdings.transfers.values()) {
    if (terms.direction !== 'to_vault' || (status !== 'PENDING' && status !== 'IN_TRANSIT')) continue;
    for (const [key, position] of holdings.positions) {
      if (position.venue !== terms.venue || tokenOf(position) !== terms.asset) continue;
      const { quantity, isVerified } = reserved.get(key) ?? NOTHING;
      reserved.set(key, { quantity: quantity + terms.amount, isVerified });
    }
  }
  return reserved;
}

export type SellVerdict = 'ok' | 'INSUFFICIENT_POSITION' | 'POSITION_RESERVATION_UNVERIFIED';

/** Whether the user has enough shares for one more sell. While reservations are unknown, no sell is judged by the numbers. */
export function judgeSell(user: UserState, terms: OrderTerms, at: Instant): SellVerdict {
  const { holdings } = user;
  const key = keyOfOrder(holdings, terms);
  const { quantity, isVerified } = reservations(user, at).get(key) ?? NOTHING;
  if (!isVerified || !isExplained(holdings, terms.venue, tokenOf(terms)))
    return 'POSITION_RESERVATION_UNVERIFIED';
  const held = holdings.positions.get(key)?.quantity ?? 0n;
  return held - quantity >= terms.quantity ? 'ok' : 'INSUFFICIENT_POSITION';
}

function isExplained({ differences }: Holdings, venue: VenueId, asset: string): boolean {
  return !differences.has(`${venue}/${asset}`);
}

export interface ExposureSelection {
  readonly venue?: VenueId;
  readonly market_id?: string;
  readonly token_id?: string;
}

function isSelected(position: Position, { venue, market_id, token_id }: ExposureSelection): boolean {
  return (
    (venue === undefined || venue === position.venue) &&
    (market_id === undefined || market_id === position.market_id) &&
    (token_id === undefined || token_id === tokenOf(position))
  );
}

/** The exposure as callers read it. `idOf` makes a stable id from a position's key. */
export function exposureRecord(
  user: UserState,
  select: ExposureSelection,
  at: Instant,
  idOf: (key: string) => string,
): Record<string, unknown> {
  const reserved = reservations(user, at);
  const selected = [...user.holdings.positions].filter(([, position]) => isSelected(position, select));
  const rows = selected
    .filter(([, { quantity }]) => quantity !== 0n)
    .map(([key, position]) => {
      const { quantity, isVerified } = reserved.get(key) ?? NOTHING;
      const isSure = isVerified && isExplained(user.holdings, position.venue, tokenOf(position));
      return positionRow(position, idOf(key), quantity, isSure);
    });
  const oldest = plusMillis(at, -CLOSED_KEPT_MILLIS);
  const closed = selected.flatMap(([key, position]) =>
    position.closed_at === undefined || position.closed_at < oldest
      ? []
      : [closedRow(position, idOf(key), position.closed_at)],
  );
  return {
    positions: rows,
    closed,
    closed_token_ids: closed.map(({ token_id }) => token_id),
    // Positions that wait to be redeemed. Venues b and e pay out by themselves, so their resolved positions are in `closed`.
    resolved: [],
    as_of: printTime(at),
    reservation_source: 'cell',
    reservations_authoritative: rows.every(({ reservations_verified: isSure }) => isSure === true),
  };
}

function nameOf(position: Position, position_id: string): Record<string, unknown> {
  return {
    exchange_id: position.venue,
    market_id: position.market_id,
    token_id: tokenOf(position),
    holding_wallet: position.wallet,
    position_id,
  };
}

function positionRow(
  position: Position,
  position_id: string,
  reserved: Micros,
  isVerified: boolean,
): Record<string, unknown> {
  const { quantity, last_trade_at: traded } = position;
  return {
    ...nameOf(position, position_id),
    outcome: position.outcome,
    net_size: printMicros(quantity),
    available_to_sell: printMicros(mostOf(quantity - reserved, 0n)),
    reserved: printMicros(reserved),
    reservations_verified: isVerified,
    avg_entry_price_bps: averageBps(position),
    realized_pnl: printMicros(realizedPnl(position)),
    last_trade_at: traded === undefined ? null : printTime(traded),
  };
}

function closedRow(position: Position, position_id: string, closed_at: Instant): Record<string, unknown> {
  return {
    ...nameOf(position, position_id),
    realized_pnl: printMicros(realizedPnl(position)),
    closed_at: printTime(closed_at),
  };
}
