import type { ClientBase, Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { OffsetsTable } from '../offsets.js';
import {
  qualified,
  tablesOf,
  type ProjectedTable,
  type Projection,
  type ProjectionTables,
} from '../projection.js';
import { Projector } from '../projector.js';
import { createTemporaryCopies } from './copies.js';

export interface RowDifference {
  /** The columns of the key, as text. */
  readonly key: readonly string[];
  /** `missing`: the journal implies the row, but the table lacks it. `surplus`: the other way round. */
  readonly kind: 'missing' | 'surplus' | 'different';
  /** The columns of a row that differ. */
  readonly columns: readonly string[];
}

export interface TableComparison {
  readonly table: string;
  readonly rows: number;
  readonly differing: number;
  /** The first differences, in the order of the key. */
  readonly differences: readonly RowDifference[];
}

export interface ComparePorts {
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly clock: Clock;
}

interface RowScope {
  readonly shard?: number;
  readonly nowNanos: bigint;
}

const SHOWN = 100;

/** Only this session sees these tables. They end with it. */
const temporary = (): string => 'pg_temp';

/**
 * Projects the journal again, up to the offsets, and compares the rows. The transaction sees one moment of the database, whatever
 * projectors do meanwhile, and is rolled back, so it leaves no trace. Without a shard it compares all.
 */
export async function compareProjection<Kept>(
  projection: Projection<Kept>,
  { pool, reader, clock }: ComparePorts,
  shard?: number,
): Promise<TableComparison[]> {
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read');
    const positions = await new OffsetsTable(projection).positions(client);
    await createTemporaryCopies(client, projection, temporary);
    const ports = { inTransaction: <T>(work: (within: ClientBase) => Promise<T>) => work(client), clock };
    const projector = new Projector(projection, ports, temporary);
    for (const [each, to] of positions) {
      if (shard === undefined || each === shard) await projector.replay(reader, each, { from: 0, to });
    }
    const scope = { nowNanos: clock.epochNanos(), ...(shard !== undefined && { shard }) };
    return await compareTables(client, projection, scope);
  } finally {
    await client.query('rollback').catch(() => undefined);
    client.release();
  }
}

async function compareTables(
  client: ClientBase,
  projection: ProjectionTables,
  scope: RowScope,
): Promise<TableComparison[]> {
  const comparisons: TableComparison[] = [];
  for (const table of tablesOf(projection)) comparisons.push(await compareTable(client, table, scope));
  return comparisons;
}

/** Compares whole rows as text, so that no difference that a reader could see is missed. */
async function compareTable(
  client: ClientBase,
  table: ProjectedTable,
  scope: RowScope,
): Promise<TableComparison> {
  const name = qualified(table);
  const live = `select * from ${name} where ${rowsIn(table, scope)}`;
  const copy = `select * from ${qualified(table, temporary)} where ${rowsIn(table, scope)}`;
  const { rows: counted } = await client.query<{ rows: number }>(
    `select count(*) as rows from (${live}) live`,
  );
  const { rows } = await client.query<RowDifference & { differing: number }>(
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

function rowsIn({ shard: ofShard, expires }: ProjectedTable, { shard, nowNanos }: RowScope): string {
  const conditions = [
    ...(shard === undefined ? [] : [`${ofShard} = ${shard}`]),
    ...(expires === undefined ? [] : [`${expires} > ${nowNanos}`]),
  ];
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}
