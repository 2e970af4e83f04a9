import type { ClientBase } from 'pg';
import type { SchemaOf } from '#libs/projecting/projection.js';
import { integers, texts } from './columns.js';

export interface FillRow {
  readonly fill_id: string;
  readonly user_id: string;
  /** Undefined for synthetic fills. */
  readonly order_id: string | undefined;
  readonly position: number;
  readonly leg: number;
  readonly exchange_id: string;
  readonly market_id: string;
  readonly record: Record<string, unknown>;
}

/** Every fill, as callers read it. */
export class FillsTable {
  private readonly table: string;

  constructor(schemaOf: SchemaOf) {
    this.table = `${schemaOf('execution')}.fills`;
  }

  /** The first row with an id stays. */
  async insert(client: ClientBase, cell: number, fills: readonly FillRow[]): Promise<void> {
    if (fills.length === 0) return;
    await client.query({
      name: `${this.table}-insert`,
      text: `
        insert into ${this.table} (fill_id, user_id, order_id, position, leg, cell, exchange_id, market_id, record)
        select fill_id::uuid, user_id::uuid, order_id::uuid, position, leg::smallint, $1, exchange_id, market_id, record
        from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[])
          as row (fill_id, user_id, order_id, position, leg, exchange_id, market_id, record)
        on conflict (fill_id) do nothing`,
      values: [
        cell,
        texts(fills.map(({ fill_id }) => fill_id)),
        texts(fills.map(({ user_id }) => user_id)),
        texts(fills.map(({ order_id }) => order_id)),
        integers(fills.map(({ position }) => position)),
        integers(fills.map(({ leg }) => leg)),
        texts(fills.map(({ exchange_id }) => exchange_id)),
        texts(fills.map(({ market_id }) => market_id)),
        texts(fills.map(({ record }) => JSON.stringify(record))),
      ],
    });
  }
}
