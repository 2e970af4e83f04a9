import type { ClientBase } from 'pg';
import type { SchemaOf } from '#libs/projecting/projection.js';
import { isOfOrder, type JournaledCellEvent } from '../decoded-batch.js';
import type { FoldedOrders } from '../order-fold.js';
import { integers, texts } from './columns.js';

/** Every event of every user, as in the journal. */
export class CellEventsTable {
  private readonly table: string;

  constructor(schemaOf: SchemaOf) {
    this.table = `${schemaOf('execution')}.events`;
  }

  async insert(
    client: ClientBase,
    cell: number,
    events: readonly JournaledCellEvent[],
    { steps }: FoldedOrders,
  ): Promise<void> {
    if (events.length === 0) return;
    await client.query({
      name: `${this.table}-insert`,
      text: `
        insert into ${this.table} (cell, position, user_id, order_id, seq, payload)
        select $1, position, user_id::uuid, order_id::uuid, seq::integer, payload
        from unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[])
          as row (position, user_id, order_id, seq, payload)`,
      values: [
        cell,
        integers(events.map(({ position }) => position)),
        texts(events.map(({ event }) => event.user_id)),
        texts(events.map(({ event }) => (isOfOrder(event) ? event.order_id : undefined))),
        integers(events.map(({ position }) => steps.get(position)?.after.seq)),
        texts(events.map(({ payload }) => payload)),
      ],
    });
  }
}
