import type { ClientBase } from 'pg';
import { LIVE, type Schemas } from '../schemas.js';
import { CATALOGUE, qualified, type CataloguedTable } from '../table-catalogue.js';

export interface Difference {
  /** The row's key, column by column. */
  readonly key: readonly string[];
  /** `missing`: the journal says that there is such a row; `surplus`: it does not. */
  readonly kind: 'missing' | 'surplus' | 'different';
  /** Of a row that is different. */
  readonly columns: readonly string[];
}

export interface TableComparison {
  readonly table: string;
  readonly rows: number;
  readonly differing: number;
  /** The first of them, in the order of the key. */
  readonly differences: readonly Difference[];
}

export interface Scope {
  /** All shards when none is named. */
  readonly shard?: number;
  /** Now, in nanoseconds since 1970. */
  readonly nowNanos: bigint;
}

const SHOWN = 100;

/** Whole rows as text against whole rows as text: nothing that can be read of them may differ. */
export async function compareTables(
  client: ClientBase,
  copies: Schemas,
  scope: Scope,
): Promise<TableComparison[]> {
  const comparisons: TableComparison[] = [];
  for (const table of CATALOGUE) comparisons.push(await compareTable(client, table, copies, scope));
  return comparisons;
}

async function compareTable(
  client: ClientBase,
  table: CataloguedTable,
  copies: Schemas,
  scope: Scope,
): Promise<TableComparison> {
  const name = qualified(table, LIVE);
  const live = `select * from ${name} where ${rowsIn(table, scope)}`;
  const copy = `select * from ${qualified(table, copies)} where ${rowsIn(table, scope)}`;
  const { rows: counted } = await client.query<{ rows: number }>(
    `select count(*) as rows from (${live}) live`,
  );
  const { rows } = await client.query<Difference & { differing: number }>(
    `with differing as (
       select array[${table.key.map((column) => `${column}::text`).join(', ')}] as key, live as live_row, copy as copy_row
       from (${live}) live full join (${copy}) copy using (${table.key.join(', ')})
       where live::text is distinct from copy::text
     )
     select key, count(*) over () as differing,
       case when live_row is null then 'missing' when copy_row is null then 'surplus' else 'different' end as kind,
       array(
         select mine.key from jsonb_each_text(to_jsonb(live_row)) mine join jsonb_each_text(to_jsonb(copy_row)) other using (key)
         where mine.value is distinct from other.value order by mine.key
       ) as columns
     from differing order by key limit ${SHOWN}`,
  );
  return {
    table: name,
    rows: counted[0]?.rows ?? 0,
    differing: rows[0]?.differing ?? 0,
    differences: rows.map(({ key, kind, columns }) => ({ key, kind, columns })),
  };
}

function rowsIn({ shard: ofShard, expires }: CataloguedTable, { shard, nowNanos }: Scope): string {
  const conditions = [
    ...(shard === undefined ? [] : [`${ofShard} = ${shard}`]),
    ...(expires === undefined ? [] : [`${expires} > ${nowNanos}`]),
  ];
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}
