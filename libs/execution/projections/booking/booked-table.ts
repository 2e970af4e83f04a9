import type { ClientBase } from 'pg';
import { fromWire, toWire } from '../../protocol/wire.js';
import { tokenOf } from '../../rules/holdings.js';
import type { OrderState } from '../../rules/order.js';
import type { VenueId } from '../../rules/venues.js';
import { orderText, readOrderOfList } from '../stored-order.js';
import { texts } from '../tables/columns.js';
import type { BookedTransfer } from './postings.js';

interface BookedRow {
  readonly id: string;
  readonly user: string;
  readonly venue: VenueId;
  readonly market: string;
  readonly asset: string;
  readonly state: string;
}

/** Orders and transfers that have entries in the ledger, with their state after the last booked event. */
export class BookedTable {
  async put(
    client: ClientBase,
    cell: number,
    orders: Iterable<OrderState>,
    transfers: Iterable<BookedTransfer>,
  ): Promise<void> {
    const rows = [...Array.from(orders, rowOfOrder), ...Array.from(transfers, rowOfTransfer)];
    if (rows.length === 0) return;
    await client.query({
      name: 'custody-booked-put',
      text: `
        insert into custody.booked (id, cell, account_id, venue, market_id, asset, state)
        select id::uuid, $1, account_id, venue, market_id, asset, state
        from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
          as row (id, account_id, venue, market_id, asset, state)
        on conflict (id) do update set state = excluded.state`,
      values: [
        cell,
        texts(rows.map(({ id }) => id)),
        texts(rows.map(({ user }) => user)),
        texts(rows.map(({ venue }) => venue)),
        texts(rows.map(({ market }) => market)),
        texts(rows.map(({ asset }) => asset)),
        texts(rows.map(({ state }) => state)),
      ],
    });
  }

  async orders(client: ClientBase, ids: readonly string[]): Promise<Map<string, OrderState>> {
    const rows = await this.states(client, ids);
    return new Map(rows.map(({ id, state }) => [id, readOrderOfList(state)]));
  }

  async transfers(client: ClientBase, ids: readonly string[]): Promise<Map<string, BookedTransfer>> {
    const rows = await this.states(client, ids);
    return new Map(rows.map(({ id, state }) => [id, readTransfer(state)]));
  }

  /** The tokens of a market for which the user ever had an order. */
  async tokens(client: ClientBase, user: string, venue: VenueId, market: string): Promise<string[]> {
    const { rows } = await client.query<{ asset: string }>({
      name: 'custody-booked-tokens',
      text: `
        select distinct asset from custody.booked where account_id = $1 and venue = $2 and market_id = $3 order by asset`,
      values: [user, venue, market],
    });
    return rows.map(({ asset }) => asset);
  }

  private async states(
    client: ClientBase,
    ids: readonly string[],
  ): Promise<readonly { readonly id: string; readonly state: string }[]> {
    if (ids.length === 0) return [];
    const { rows } = await client.query<{ id: string; state: string }>({
      name: 'custody-booked-read',
      text: 'select id, state from custody.booked where id = any($1::uuid[])',
      values: [ids],
    });
    return rows;
  }
}

function rowOfOrder(order: OrderState): BookedRow {
  const { order_id: id, user_id: user, venue, market_id: market } = order.terms;
  return { id, user, venue, market, asset: tokenOf(order.terms), state: orderText(order).state };
}

/** A transfer belongs to no market, so its row must not name a token of one. */
function rowOfTransfer({ terms, is_sent, user }: BookedTransfer): BookedRow {
  const { transfer_id: id, venue, asset } = terms;
  return { id, user, venue, market: '', asset, state: toWire({ terms, is_sent, user }) };
}

function readTransfer(text: string): BookedTransfer {
  const state = fromWire(text);
  if (!isTransfer(state)) throw new Error('a stored transfer cannot be read');
  return state;
}

/** Checks only the outline, because the booker wrote the row. */
function isTransfer(value: unknown): value is BookedTransfer {
  return typeof value === 'object' && value !== null && 'terms' in value && 'is_sent' in value;
}
