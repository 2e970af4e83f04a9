import pg from 'pg';
import { orderText } from '#libs/execution/projections/stored-order.js';
import { evolveOrder } from '#libs/execution/rules/evolve.js';
import { nanosFromInstant } from '#libs/base/instant.js';
import { momentOf } from '#libs/testing/execution/cell-journal.js';
import { orderHistory } from '../load/order-history.js';
import type { OrderState } from '#libs/execution/rules/order.js';

/** Rows per statement. Each is as long as the row of a real order. */
const AT_ONCE = 50_000;

/** Inserts orders of these users in turn into the table that lists read. Each has its own id and time. */
export async function fillOrders(url: string, users: readonly string[], rows: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const sample = sampleOrder();
  const { state, raw } = orderText(sample);
  const { terms } = sample;
  for (let from = 0; from < rows; from += AT_ONCE) {
    await client.query(
      `insert into execution.orders (order_id, user_id, submitted_at, updated_at, cell, status, exchange_id, market_id, side,
         client_order_id, source, origin, state, raw)
       select new.id, ($1::uuid[])[1 + new.number % $2], $3::bigint + new.number * 1000000::bigint, $3::bigint + new.number * 1000000::bigint,
         0, $4, $5, $6 || new.number % 50, $7, new.id::text, $8, $9, replace($10, $11, new.id::text), $12
       from (select number, gen_random_uuid() as id from generate_series($13::bigint, $14::bigint) as number) as new`,
      [
        ...[users, users.length, String(nanosFromInstant(sample.accepted_at)), sample.status, terms.venue],
        ...[terms.market_id, terms.side, terms.source, terms.origin, state, terms.order_id, raw],
        ...[from, Math.min(from + AT_ONCE, rows) - 1],
      ],
    );
  }
  await client.query('vacuum analyze execution.orders');
  await client.end();
}

function sampleOrder(): OrderState {
  let order: OrderState | undefined;
  for (const event of orderHistory({
    number: 0,
    user_id: '00000000-0000-4000-8000-000000000000',
    from: momentOf,
  }))
    order = evolveOrder(order, event);
  if (order === undefined) throw new Error('a history makes no order');
  return order;
}
