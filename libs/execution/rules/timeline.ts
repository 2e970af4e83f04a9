import type { Instant } from '#libs/base/instant.js';
import type { OrderEvent } from './events.js';
import { evolveOrder } from './evolve.js';
import {
  isTerminal,
  type CancelCause,
  type OrderState,
  type TerminalReason,
  type VenueCall,
} from './order.js';
import { printTime } from './record.js';

type OrderActor = 'USER' | 'SERVICE' | 'VENUE' | 'OPERATOR';

const REASONS: Readonly<Partial<Record<OrderEvent['type'], string>>> = {
  ORDER_ACCEPTED: 'ACCEPTED',
  EXTERNAL_ORDER_FOUND: 'EXTERNAL',
  SUBMISSION_STARTED: 'SUBMITTING',
  SUBMISSION_DOUBTED: 'PENDING_VENUE',
  SUBMISSION_REPEATED: 'ACCEPTED',
  ORDER_PLACED: 'OPEN',
  ORDER_FILLED: 'FILL',
  CANCEL_REQUESTED: 'CANCEL_REQUESTED',
  CANCEL_REFUSED: 'CANCEL_REFUSED',
  ORDER_AMENDED: 'AMENDED',
  ORDER_STALLED: 'STALLED',
};

/** Why the order changed, as callers see it. For the end of an order this is its last status. */
export function changeReason(
  { type }: OrderEvent,
  before: OrderState | undefined,
  after: OrderState,
): string | undefined {
  if (after.version === (before?.version ?? 0)) return undefined;
  const hasEnded = isTerminal(after) && after.status !== before?.status;
  return (hasEnded ? undefined : REASONS[type]) ?? after.status.toUpperCase();
}

/** One page of the order's timeline, made from all its events. */
export function orderTimeline(
  events: readonly OrderEvent[],
  afterSeq: number,
  limit: number,
): Record<string, unknown> | undefined {
  const [first] = events;
  if (first === undefined) return undefined;
  const entries: Record<string, unknown>[] = [];
  let state: OrderState | undefined;
  for (const event of events) {
    const after = evolveOrder(state, event);
    if (after.seq > afterSeq && entries.length < limit) entries.push(entryOf(event, state, after));
    state = after;
  }
  const last = afterSeq + entries.length;
  return {
    order_id: first.order_id,
    events: entries,
    times: timesOf(events),
    ...(entries.length > 0 && last < events.length ? { next_after_seq: last } : {}),
  };
}

function entryOf(
  event: OrderEvent,
  before: OrderState | undefined,
  after: OrderState,
): Record<string, unknown> {
  return {
    seq: after.seq,
    version: after.version,
    at: printTime(event.at),
    cause: changeReason(event, before, after) ?? 'CALL',
    actor: actorOf(event),
    ...(before === undefined ? {} : { from: before.status }),
    status: after.status,
    ...(event.call === undefined ? {} : { call: callRecord(event.call) }),
  };
}

function callRecord(call: VenueCall): Record<string, unknown> {
  const { operation, request_sha256, signed_at, sent_at, answered_at, http_status, raw } = call;
  return {
    operation,
    request_sha256,
    ...timeMember('signed_at', signed_at),
    sent_at: printTime(sent_at),
    ...timeMember('answered_at', answered_at),
    ...(http_status === undefined ? {} : { http_status }),
    ...(raw === undefined ? {} : { raw }),
  };
}

function timesOf(events: readonly OrderEvent[]): Record<string, unknown> {
  const submit = events.find(({ call }) => call?.operation === 'submit')?.call;
  const started = events.find(({ type }) => type === 'SUBMISSION_STARTED');
  const placed = events.find(({ type }) => type === 'ORDER_PLACED');
  const fill = events.find((event) => event.type === 'ORDER_FILLED');
  return {
    ...timeMember('received_at', events[0]?.at),
    ...timeMember('durable_at', events[0]?.at),
    ...timeMember('signed_at', submit?.signed_at),
    ...timeMember('sent_at', submit?.sent_at ?? started?.at),
    ...timeMember('acknowledged_at', placed?.call?.answered_at ?? placed?.at),
    ...timeMember('matched_at', fill?.fill.occurred_at),
  };
}

function timeMember(name: string, at: Instant | undefined): Record<string, unknown> {
  return at === undefined ? {} : { [name]: printTime(at) };
}

const BY_CANCEL: Readonly<Record<CancelCause, OrderActor>> = {
  USER: 'USER',
  CANCEL_ALL: 'USER',
  CANCEL_AFTER: 'SERVICE',
  DISCONNECT: 'SERVICE',
  OPERATOR: 'OPERATOR',
  EXPIRED: 'SERVICE',
};

/** Who ended the order if no venue was called. For an order that was never sent, that is who cancelled it. */
const BY_END: Readonly<Record<TerminalReason, OrderActor>> = {
  ...BY_CANCEL,
  FILLED: 'VENUE',
  UNFILLED_REMAINDER: 'VENUE',
  EXPIRED: 'VENUE',
  VENUE: 'VENUE',
  MARKET_CLOSED: 'VENUE',
  FAILED: 'SERVICE',
};

function actorOf(event: OrderEvent): OrderActor {
  switch (event.type) {
    case 'ORDER_ACCEPTED':
    case 'AMEND_REQUESTED':
      return 'USER';
    case 'CANCEL_REQUESTED':
      return BY_CANCEL[event.cause];
    case 'ORDER_ENDED':
      return event.call === undefined ? BY_END[event.terminal_reason] : 'VENUE';
    case 'SUBMISSION_STARTED':
    case 'SUBMISSION_DOUBTED':
    case 'SUBMISSION_REPEATED':
    case 'ORDER_STALLED':
    case 'CALL_RECORDED':
      return 'SERVICE';
    default:
      return 'VENUE';
  }
}
