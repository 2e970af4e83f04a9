import type { ClientBase } from 'pg';
import { LIVE, type SchemaOf } from '#libs/projecting/projection.js';

type Client = Pick<ClientBase, 'query'>;

/** A journal record about a market that no MARKET event has listed yet. */
export interface WaitingRecord {
  readonly sequence: number;
  readonly market_id: string;
  readonly payload: string;
}

export class WaitingTable {
  private readonly table: string;

  constructor(schemaOf: SchemaOf = LIVE) {
    this.table = `${schemaOf('data')}.waiting`;
  }

  /** Returns and deletes the records that wait for these markets, in the order of the journal. */
  async take(client: Client, shard: number, marketIds: readonly string[]): Promise<WaitingRecord[]> {
    if (marketIds.length === 0) return [];
    const { rows } = await client.query<WaitingRecord>(
      `delete from ${this.table} where shard = $1 and market_id = any ($2::text[]) returning sequence, market_id, payload`,
      [shard, marketIds],
    );
    return rows.sort((left, right) => left.sequence - right.sequence);
  }

  async add(client: Client, shard: number, records: readonly WaitingRecord[]): Promise<void> {
    if (records.length === 0) return;
    await client.query(
      `insert into ${this.table} (shard, sequence, market_id, payload)
       select $1, sequence, market_id, payload from unnest($2::bigint[], $3::text[], $4::text[]) as record (sequence, market_id, payload)`,
      [
        ...[shard, records.map(({ sequence }) => sequence), records.map(({ market_id }) => market_id)],
        records.map(({ payload }) => payload),
      ],
    );
  }
}
