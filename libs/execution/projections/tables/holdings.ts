import type { ClientBase } from 'pg';
import type { SchemaOf } from '#libs/projecting/projection.js';
import type { Holdings } from '../../rules/holdings.js';
import { readHoldings, type HoldingRow } from '../stored-holdings.js';
import { texts } from './columns.js';

export interface HoldingRowOf extends HoldingRow {
  readonly user_id: string;
}

interface StoredRow {
  readonly user_id: string;
  readonly part: string;
  readonly key: string;
  readonly state: string;
}

/** What each user has at the venues, according to our own records. */
export class HoldingsTable {
  private readonly table: string;

  constructor(schemaOf: SchemaOf) {
    this.table = `${schemaOf('execution')}.holdings`;
  }

  async put(client: ClientBase, cell: number, rows: readonly HoldingRowOf[]): Promise<void> {
    const gone = rows.filter(({ state }) => state === undefined);
    const kept = rows.filter(({ state }) => state !== undefined);
    if (gone.length > 0) {
      await client.query({
        name: `${this.table}-delete`,
        text: `
          delete from ${this.table} where (user_id, part, key) in (
            select user_id::uuid, part, key from unnest($1::text[], $2::text[], $3::text[]) as row (user_id, part, key))`,
        values: keysOf(gone),
      });
    }
    if (kept.length === 0) return;
    await client.query({
      name: `${this.table}-put`,
      text: `
        insert into ${this.table} (user_id, part, key, cell, state)
        select user_id::uuid, part, key, $1, state
        from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as row (user_id, part, key, state)
        on conflict (user_id, part, key) do update set state = excluded.state`,
      values: [cell, ...keysOf(kept), texts(kept.map(({ state }) => state))],
    });
  }

  async read(client: ClientBase, users: readonly string[]): Promise<Map<string, Holdings>> {
    if (users.length === 0) return new Map();
    const { rows } = await client.query<StoredRow>({
      name: `${this.table}-read`,
      text: `select user_id, part, key, state from ${this.table} where user_id = any($1::uuid[])`,
      values: [users],
    });
    const byUser = Map.groupBy(rows, (row) => row.user_id);
    return new Map([...byUser].map(([user, parts]) => [user, readHoldings(parts)]));
  }
}

function keysOf(rows: readonly HoldingRowOf[]): Buffer[] {
  return [
    texts(rows.map(({ user_id }) => user_id)),
    texts(rows.map(({ part }) => part)),
    texts(rows.map(({ key }) => key)),
  ];
}
