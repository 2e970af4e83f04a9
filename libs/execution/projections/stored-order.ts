import { fromWire, toWire } from '../protocol/wire.js';
import type { OrderState } from '../rules/order.js';

/** The texts of a row. The venue's last reply is apart, so that lists need not read it. */
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

/** Without the venue's reply. */
export function readOrderOfList(text: string): OrderState {
  const state = fromWire(text);
  if (!isOrder(state)) throw new Error('a row of the orders holds no order');
  return { ...state, raw: null };
}

/** The projection has written it, and rebuilding it writes it anew: only what tells an order from anything else is looked at. */
function isOrder(value: unknown): value is Omit<OrderState, 'raw'> {
  return typeof value === 'object' && value !== null && 'terms' in value && 'status' in value;
}

/** The same members always give the same text, in whatever order the fold has come to them: rows do not depend on what was remembered. */
export function storedText(value: object): string {
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return toWire(Object.fromEntries(members));
}
