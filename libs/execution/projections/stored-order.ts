import { fromWire, toWire } from '../protocol/wire.js';
import type { OrderState } from '../rules/order.js';

/** The texts of a row. The venue's last reply is separate, so that lists need not read it. */
export interface StoredOrder {
  readonly state: string;
  readonly raw: string;
}

/** Without the times of calls, which only cells need. */
export function orderText({ raw, ...state }: OrderState): StoredOrder {
  return { state: storedText({ ...state, recorded_calls: undefined }), raw: JSON.stringify(raw ?? null) };
}

export function readOrder({ state, raw }: StoredOrder): OrderState {
  return { ...readOrderOfList(state), raw: JSON.parse(raw) };
}

/** The order without the venue's reply. */
export function readOrderOfList(text: string): OrderState {
  const state = fromWire(text);
  if (!isOrder(state)) throw new Error('a stored order cannot be read');
  return { ...state, raw: null };
}

/** Checks only the outline, because the projection wrote the row and a rebuild writes it again. */
function isOrder(value: unknown): value is Omit<OrderState, 'raw'> {
  return typeof value === 'object' && value !== null && 'terms' in value && 'status' in value;
}

/**
 * The same fields always give the same text, whatever order the fold added them in. So rows do not depend on cached
 * state.
 */
export function storedText(value: object): string {
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return toWire(Object.fromEntries(members));
}
