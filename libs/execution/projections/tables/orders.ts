import type { ClientBase } from 'pg';
import { nanosFromInstant } from '#libs/base/instant.js';
import type { SchemaOf } from '#libs/projecting/projection.js';
import type { OrderState } from '../../rules/order.js';
import { orderText, readOrder, type StoredOrder } from '../stored-order.js';
import { integers, nanosOfMillis, texts } from './columns.js';

/** Every order in its present state, with a column for each filter of lists. */
export class OrdersTable {
  private readonly table: string;

  constructor(schemaOf: SchemaOf) {
    this.table = `${schemaOf('execution')}.orders`;
  }

  async put(client: ClientBase, cell: number, orders: readonly OrderState[]): Promise<void> {
    if (orders.length === 0) return;
    const termsOf = <T>(column: (terms: OrderState['terms']) => T): T[] =>
      orders.map(({ terms }) => column(terms));
    const stored = orders.map(orderText);
    await client.query({
      name: `${this.table}-put`,
      text: `
        insert into ${this.table} (order_id, user_id, submitted_at, updated_at, cell, status, exchange_id, market_id, token_id, side,
          client_order_id, bot_id, source, origin, state, raw)
        select order_id::uuid, user_id::uuid, submitted_at, updated_at, $1, status, exchange_id, market_id, token_id, side,
          client_order_id, bot_id, source, origin, state, raw
        from unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
          $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[])
          as row (order_id, user_id, submitted_at, updated_at, status, exchange_id, market_id, token_id, side,
            client_order_id, bot_id, source, origin, state, raw)
        on conflict (order_id) do update
          set updated_at = excluded.updated_at, status = excluded.status, state = excluded.state, raw = excluded.raw`,
      values: [
        cell,
        texts(termsOf(({ order_id }) => order_id)),
        texts(termsOf(({ user_id }) => user_id)),
        integers(orders.map(({ accepted_at }) => nanosOfMillis(accepted_at))),
        integers(orders.map(({ updated_at }) => nanosFromInstant(updated_at))),
        texts(orders.map(({ status }) => status)),
        texts(termsOf(({ venue }) => venue)),
        texts(termsOf(({ market_id }) => market_id)),
        texts(termsOf(({ token_id }) => token_id)),
        texts(termsOf(({ side }) => side)),
        texts(termsOf(({ client_order_id }) => client_order_id)),
        texts(termsOf(({ bot_id }) => bot_id)),
        texts(termsOf(({ source }) => source)),
        texts(termsOf(({ origin }) => origin)),
        texts(stored.map(({ state }) => state)),
        texts(stored.map(({ raw }) => raw)),
      ],
    });
  }

  async read(client: ClientBase, ids: readonly string[]): Promise<Map<string, OrderState>> {
    if (ids.length === 0) return new Map();
    const { rows } = await client.query<StoredOrder>({
      name: `${this.table}-read`,
      text: `select state, raw from ${this.table} where order_id = any($1::uuid[])`,
      values: [ids],
    });
    return new Map(rows.map(readOrder).map((order) => [order.terms.order_id, order]));
  }
}
