import type { Instant } from '#libs/base/instant.js';
import type { OrderEvent } from './events.js';
import {
  isTerminal,
  type OrderFill,
  type OrderState,
  type OrderStatus,
  type OrderTerms,
  type VenueCall,
} from './order.js';
import type { Micros } from './micros.js';

type Change = Partial<OrderState>;
type EventOf<Type extends OrderEvent['type']> = Extract<OrderEvent, { type: Type }>;

/** Events that change nothing that callers see, so the version stays the same. */
const UNSEEN: ReadonlySet<OrderEvent['type']> = new Set([
  'CALL_RECORDED',
  'AMEND_REQUESTED',
  'AMEND_REFUSED',
]);

/** Applies one event to an order. The first event creates the order. */
export function evolveOrder(state: OrderState | undefined, event: OrderEvent): OrderState {
  if (event.type === 'ORDER_ACCEPTED' || event.type === 'EXTERNAL_ORDER_FOUND') return firstState(event);
  if (state === undefined) throw new Error(`order ${event.order_id} has no event before ${event.type}`);
  const change = changeBy(state, event);
  const isSeen = change !== undefined && !UNSEEN.has(event.type);
  return {
    ...state,
    ...change,
    ...(event.call?.raw === undefined ? {} : { raw: event.call.raw }),
    ...(event.call === undefined ? {} : { recorded_calls: recordedWith(state, event.call) }),
    ...(isSeen ? { version: state.version + 1, updated_at: event.at } : {}),
    seq: state.seq + 1,
  };
}

function recordedWith(
  { recorded_calls }: OrderState,
  { operation, sent_at }: VenueCall,
): NonNullable<OrderState['recorded_calls']> {
  return { ...recorded_calls, [operation]: sent_at };
}

/** The quantity left to trade. Zero if the venue filled more than was ordered. */
export function remainingOf({ terms, filled }: Pick<OrderState, 'terms' | 'filled'>): Micros {
  return filled >= terms.quantity ? 0n : terms.quantity - filled;
}

function firstState(event: EventOf<'ORDER_ACCEPTED' | 'EXTERNAL_ORDER_FOUND'>): OrderState {
  const { terms, at } = event;
  const isExternal = event.type === 'EXTERNAL_ORDER_FOUND';
  return {
    terms,
    ...{ version: 1, seq: 1, attempts: 0, filled: 0n, filled_value: 0n, fees: 0n, fill_ids: [] },
    status: isExternal ? 'open' : 'queued',
    price: terms.price,
    are_fees_told: false,
    accepted_at: at,
    updated_at: at,
    raw: event.call?.raw ?? null,
    ...(isExternal ? { exchange_order_id: event.exchange_order_id } : {}),
  };
}

/** Undefined if nothing changes. */
function changeBy(
  state: OrderState,
  event: Exclude<OrderEvent, EventOf<'ORDER_ACCEPTED' | 'EXTERNAL_ORDER_FOUND'>>,
): Change | undefined {
  switch (event.type) {
    case 'SUBMISSION_STARTED': {
      const { attempt: attempts, venue_client_id, sent, at: begun_at } = event;
      return { ...moved(state, 'submitting'), attempts, venue_client_id, sent, begun_at };
    }
    case 'SUBMISSION_DOUBTED':
      return moved(state, 'pending_venue');
    case 'SUBMISSION_REPEATED':
      return { ...moved(state, 'queued'), attempts: triesOf(state), stalled_since: undefined };
    case 'ORDER_PLACED':
      return placed(state, event.exchange_order_id);
    case 'ORDER_FILLED':
      return filled(state, event);
    case 'CANCEL_REQUESTED':
      return cancelRequested(state, event);
    case 'CANCEL_REFUSED':
      return cancelRefused(state);
    case 'AMEND_REQUESTED': {
      const { amend_id, price, at: requested_at, not_after } = event;
      return { amend: { amend_id, price, requested_at, ...(not_after === undefined ? {} : { not_after }) } };
    }
    case 'ORDER_AMENDED':
      return { price: event.price, amend: undefined, stalled_since: undefined };
    case 'AMEND_REFUSED':
      return { amend: undefined };
    case 'ORDER_ENDED':
      return ended(event);
    case 'ORDER_STALLED':
      return { stalled_since: event.is_stalled ? event.at : undefined };
    case 'CALL_RECORDED':
      return undefined;
  }
}

/** An attempt that failed before it began counts as an attempt. */
function triesOf({ status, attempts }: OrderState): number {
  return status === 'queued' ? attempts + 1 : attempts;
}

/** While a cancel waits for the venue, the status to return to changes instead. */
function moved({ cancel }: OrderState, status: OrderStatus): Change {
  return cancel === undefined ? { status } : { cancel: { ...cancel, before: status } };
}

/** No request to the venue is open. */
const SETTLED = { cancel: undefined, amend: undefined, stalled_since: undefined } as const;
/** The venue has shown that an order that counted as ended is live. */
const REVIVED = { terminal_at: undefined, terminal_reason: undefined, failure: undefined } as const;

function placed(state: OrderState, exchange_order_id: string): Change {
  if (isTerminal(state) && state.status !== 'failed') return { exchange_order_id };
  const change = moved(state, state.filled > 0n ? 'partially_filled' : 'open');
  const isWaiting = state.cancel !== undefined || state.amend !== undefined;
  return { exchange_order_id, ...change, ...REVIVED, ...(isWaiting ? {} : { stalled_since: undefined }) };
}

/** Each fill counts once, in any status of the order. The status follows from the fills. */
function filled(
  state: OrderState,
  { fill, exchange_order_id, at }: EventOf<'ORDER_FILLED'>,
): Change | undefined {
  if (state.fill_ids.includes(fill.fill_id)) return undefined;
  const sums = withFill(state, fill);
  const change: Change = { ...sums, exchange_order_id };
  const wanted = state.sent?.quantity ?? state.terms.quantity;
  if (sums.filled >= wanted) return { ...change, ...SETTLED, ...fullyFilled(state, at) };
  if (!isTerminal(state)) return { ...change, ...moved(state, 'partially_filled') };
  if (state.status !== 'failed') return change;
  // The order counted as failed without a fill. If it cannot rest, it has still ended.
  if (!canRest(state.terms)) {
    return { ...change, status: 'cancelled', terminal_reason: 'UNFILLED_REMAINDER', failure: undefined };
  }
  return { ...change, ...REVIVED, status: 'partially_filled' };
}

function withFill(
  state: OrderState,
  { fill_id, price, quantity, fee, is_fee_told }: OrderFill,
): Pick<OrderState, 'filled' | 'filled_value' | 'fees' | 'are_fees_told' | 'fill_ids'> {
  return {
    filled: state.filled + quantity,
    filled_value: state.filled_value + price * quantity,
    fees: state.fees + fee,
    are_fees_told: is_fee_told && (state.fill_ids.length === 0 || state.are_fees_told),
    fill_ids: [...state.fill_ids, fill_id],
  };
}

function fullyFilled({ terminal_at }: OrderState, at: Instant): Change {
  const end = { status: 'filled', terminal_reason: 'FILLED', failure: undefined } as const;
  return { ...end, terminal_at: terminal_at ?? at };
}

/** Whether the order may rest in the venue's book. */
export function canRest({ kind, time_in_force: tif }: Pick<OrderTerms, 'kind' | 'time_in_force'>): boolean {
  return kind === 'limit' && (tif === 'GTC' || tif === 'GTD');
}

function cancelRequested(state: OrderState, event: EventOf<'CANCEL_REQUESTED'>): Change {
  const { cause, at: requested_at, not_after } = event;
  const before = state.cancel?.before ?? state.status;
  return {
    status: 'cancel_requested',
    cancel: { cause, requested_at, before, ...(not_after === undefined ? {} : { not_after }) },
    cancel_requested_at: requested_at,
  };
}

function cancelRefused({ cancel, stalled_since }: OrderState): Change | undefined {
  if (cancel === undefined) return undefined;
  const isStillStalled = cancel.before === 'pending_venue';
  return {
    status: cancel.before,
    ...{ cancel: undefined, cancel_requested_at: undefined },
    stalled_since: isStillStalled ? stalled_since : undefined,
  };
}

function ended({ status, terminal_reason, failure, at }: EventOf<'ORDER_ENDED'>): Change {
  return {
    ...SETTLED,
    ...{ status, terminal_reason, terminal_at: at },
    failure: status === 'failed' ? failure : undefined,
  };
}
