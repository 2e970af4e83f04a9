import type { CellEvent } from '../rules/events.js';
import { fromWire, toWire } from './wire.js';

/** This build does not know the event's type or version. A newer build or another program wrote it. */
export class UnknownCellEvent extends Error {
  override readonly name = 'UnknownCellEvent';

  constructor(type: string, version: unknown) {
    super(`no rule reads event ${type} in version ${String(version)}`);
  }
}

/** The event's type and version are known, but a field is missing or has the wrong type. */
export class MalformedCellEvent extends Error {
  override readonly name = 'MalformedCellEvent';

  constructor(type: string, field: string) {
    super(`event ${type} is malformed at ${field}`);
  }
}

type Kind = 'string' | 'number' | 'bigint' | 'boolean' | 'object';
type Shape = Readonly<Record<string, Kind>>;

const ORDER: Shape = { order_id: 'string' };
const VENUE: Shape = { venue: 'string' };
const TRANSFER: Shape = { ...VENUE, transfer_id: 'string' };

/** The required fields of each event type, in addition to the time and the user. */
const SHAPES: Readonly<Record<CellEvent['type'], Shape>> = {
  ORDER_ACCEPTED: { ...ORDER, terms: 'object' },
  EXTERNAL_ORDER_FOUND: { ...ORDER, terms: 'object', exchange_order_id: 'string' },
  SUBMISSION_STARTED: { ...ORDER, attempt: 'number', venue_client_id: 'string', sent: 'object' },
  SUBMISSION_DOUBTED: { ...ORDER, reason: 'string' },
  SUBMISSION_REPEATED: { ...ORDER, failure: 'object' },
  ORDER_PLACED: { ...ORDER, exchange_order_id: 'string' },
  ORDER_FILLED: { ...ORDER, fill: 'object', exchange_order_id: 'string' },
  CANCEL_REQUESTED: { ...ORDER, cause: 'string' },
  CANCEL_REFUSED: { ...ORDER, message: 'string' },
  AMEND_REQUESTED: { ...ORDER, amend_id: 'string', price: 'bigint' },
  ORDER_AMENDED: { ...ORDER, amend_id: 'string', price: 'bigint' },
  AMEND_REFUSED: { ...ORDER, amend_id: 'string', message: 'string' },
  ORDER_ENDED: { ...ORDER, status: 'string', terminal_reason: 'string' },
  ORDER_STALLED: { ...ORDER, is_stalled: 'boolean' },
  CALL_RECORDED: { ...ORDER, call: 'object' },
  VENUE_LINKED: { ...VENUE, account: 'string' },
  BALANCE_MOVED: {
    ...VENUE,
    ...{ movement: 'string', entry_id: 'string', asset: 'string', amount: 'bigint', occurred_at: 'string' },
  },
  COLLATERAL_MOVED: {
    ...VENUE,
    ...{ from_shard: 'number', to_shard: 'number', amount: 'bigint', reference: 'string' },
  },
  PAIRS_PAID: { ...VENUE, market_id: 'string', quantity: 'bigint', reference: 'string' },
  POSITION_PAID: {
    ...VENUE,
    ...{ market_id: 'string', outcome: 'string', quantity: 'bigint', payout: 'bigint', reference: 'string' },
  },
  DIFFERENCE_FOUND: { ...VENUE, asset: 'string', recorded: 'bigint', observed: 'bigint' },
  DIFFERENCE_ENDED: { ...VENUE, asset: 'string' },
  TRANSFER_HELD: { ...VENUE, terms: 'object' },
  TRANSFER_SENT: { ...TRANSFER, reference: 'string' },
  TRANSFER_COMPLETED: { ...TRANSFER, reference: 'string' },
  TRANSFER_FAILED: { ...TRANSFER, failure: 'object' },
  CANCEL_TIMER_ARMED: { timer: 'string' },
  CANCEL_TIMER_ENDED: { timer: 'string', was_due: 'boolean' },
  ORDER_RECALLED: { order: 'object' },
};

/** The version that is written now. */
const VERSION = 1;

export function encodeCellEvent(event: CellEvent): string {
  return toWire({ version: VERSION, ...event });
}

/** Decodes what `encodeCellEvent` wrote. Throws if the event is unknown or malformed. */
export function decodeCellEvent(text: string): CellEvent {
  const read = fromWire(text);
  if (!isRecord(read)) throw new MalformedCellEvent('without a type', 'type');
  const { version, ...event } = read;
  const type = typeof event.type === 'string' ? event.type : 'without a type';
  if (version !== VERSION || !isKnown(type)) throw new UnknownCellEvent(type, version);
  const shape: Shape = { at: 'string', user_id: 'string', ...SHAPES[type] };
  if (isWhole(event, shape)) return event;
  const broken = Object.keys(shape).find((field) => kindOf(event[field]) !== shape[field]);
  throw new MalformedCellEvent(type, broken ?? 'type');
}

/** Checks the top level only. The hash chain proves that this is what we wrote, so deeper members have their types. */
function isWhole(
  event: Readonly<Record<string, unknown>>,
  shape: Shape,
): event is Readonly<Record<string, unknown>> & CellEvent {
  return Object.keys(shape).every((field) => kindOf(event[field]) === shape[field]);
}

function isKnown(type: string): type is CellEvent['type'] {
  return Object.hasOwn(SHAPES, type);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
