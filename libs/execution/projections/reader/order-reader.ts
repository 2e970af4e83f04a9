import type { Pool } from 'pg';
import { nanosFromInstant, type Instant } from '#libs/base/instant.js';
import type { OrderSide } from '../../rules/amounts.js';
import type { OrderSource, OrderState, OrderStatus } from '../../rules/order.js';
import { orderRecord } from '../../rules/record.js';
import type { VenueId } from '../../rules/venues.js';
import { readOrder, readOrderOfList, type StoredOrder } from '../stored-order.js';

/** The filters of `GET /orders`. */
export interface OrderListQuery {
  readonly limit: number;
  readonly offset: number;
  readonly before_id?: string;
  readonly exchange_id?: VenueId;
  readonly market_id?: string;
  readonly token_id?: string;
  /** Any of these. `active` and `terminal` are already replaced by the statuses that they include. */
  readonly statuses?: readonly OrderStatus[];
  readonly side?: OrderSide;
  readonly client_order_id?: string;
  readonly bot_id?: string;
  readonly source?: OrderSource;
  readonly origin?: 'sotto' | 'external';
  readonly submitted_after?: Instant;
  readonly submitted_before?: Instant;
  readonly updated_after?: Instant;
}

export interface OrderPage {
  readonly orders: readonly Record<string, unknown>[];
  readonly has_more: boolean;
  readonly next_before_id?: string;
}

const EQUAL = [
  'exchange_id',
  'market_id',
  'token_id',
  'side',
  'client_order_id',
  'bot_id',
  'source',
  'origin',
] as const satisfies readonly (keyof OrderListQuery)[];
const NEWEST_FIRST = 'order by o.submitted_at desc, o.order_id desc';
const LAST = 2n ** 63n - 1n;

export const PLACE_OF_ORDER = `
  select submitted_at::text, order_id from execution.orders where order_id = $1 and user_id = $2`;
export const ORDER_OF_USER = `
  select state, raw from execution.orders where order_id = $1 and user_id = $2`;

interface OrderPosition {
  readonly submitted_at: string;
  readonly order_id: string;
}

export class OrderReader {
  constructor(private readonly pool: Pool) {}

  /** Newest first. `no such order` if `before_id` is not an order of the user. */
  async list(user: string, query: OrderListQuery): Promise<OrderPage | 'no such order'> {
    const before = query.before_id === undefined ? undefined : await this.place(user, query.before_id);
    if (query.before_id !== undefined && before === undefined) return 'no such order';
    const { rows } = await this.pool.query<{ state: string }>(orderListStatement(user, query, before));
    const states = rows.slice(0, query.limit).map(({ state }) => readOrderOfList(state));
    const hasMore = rows.length > query.limit;
    const last = states.at(-1)?.terms.order_id;
    return {
      orders: states.map((state) => orderRecord(state, 'row')),
      has_more: hasMore,
      ...(hasMore && last !== undefined ? { next_before_id: last } : {}),
    };
  }

  async find(user: string, orderId: string): Promise<OrderState | undefined> {
    const { rows } = await this.pool.query<StoredOrder>({
      name: 'execution-order',
      text: ORDER_OF_USER,
      values: [orderId, user],
    });
    return rows[0] === undefined ? undefined : readOrder(rows[0]);
  }

  private async place(user: string, orderId: string): Promise<OrderPosition | undefined> {
    const { rows } = await this.pool.query<OrderPosition>({
      name: 'execution-order-place',
      text: PLACE_OF_ORDER,
      values: [orderId, user],
    });
    return rows[0];
  }
}

/** Reads one row more than shown, to know whether there are more. Each status walks one index in order. */
export function orderListStatement(
  user: string,
  query: OrderListQuery,
  before?: OrderPosition,
): { text: string; values: unknown[] } {
  const values: unknown[] = [user, query.limit + 1, query.offset];
  const param = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [
    'o.user_id = $1',
    ...EQUAL.flatMap((name) => (query[name] === undefined ? [] : [`o.${name} = ${param(query[name])}`])),
    ...timeConditions(query, param),
    ...(before === undefined
      ? []
      : [
          `(o.submitted_at, o.order_id) < (${param(before.submitted_at)}::bigint, ${param(before.order_id)}::uuid)`,
        ]),
  ];
  const where = `where ${conditions.join(' and ')}`;
  const { statuses } = query;
  if (statuses === undefined) {
    const text = `select o.state from execution.orders o ${where} ${NEWEST_FIRST} limit $2 offset $3`;
    return { text, values };
  }
  const each = `
    select o.submitted_at, o.order_id, o.state from execution.orders o
    ${where} and o.status = wanted.status ${NEWEST_FIRST} limit $2::bigint + $3::bigint`;
  const text = `
    select o.state from unnest(${param([...new Set(statuses)])}::text[]) as wanted (status)
    cross join lateral (${each}) o ${NEWEST_FIRST} limit $2 offset $3`;
  return { text, values };
}

function timeConditions(
  { submitted_after, submitted_before, updated_after }: OrderListQuery,
  param: (value: unknown) => string,
): string[] {
  const at = (instant: Instant): string => `${param(nanosText(instant))}::bigint`;
  return [
    ...(submitted_after === undefined ? [] : [`o.submitted_at > ${at(submitted_after)}`]),
    ...(submitted_before === undefined ? [] : [`o.submitted_at < ${at(submitted_before)}`]),
    ...(updated_after === undefined ? [] : [`o.updated_at > ${at(updated_after)}`]),
  ];
}

/** A caller may name any year. A value beyond the column's range becomes the nearest valid one. */
function nanosText(instant: Instant): string {
  const nanos = nanosFromInstant(instant);
  if (nanos > LAST) return String(LAST);
  return String(nanos < -LAST ? -LAST : nanos);
}
