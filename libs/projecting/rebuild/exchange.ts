import type { ClientBase } from 'pg';
import { OffsetsTable } from '../offsets.js';
import { qualified, schemasOf, tablesOf, type ProjectionTables, type SchemaOf } from '../projection.js';

/** The constant must never change: it keeps this lock apart from all others. */
const EXCHANGE_LOCK = 2_980_114_508;

/**
 * Whether a rebuild may exchange tables now. A transaction that still sees the old database finds no rows in tables that were
 * exchanged meanwhile, so a backup blocks exchanges by this lock. A lock on the tables would make every reader wait for the
 * backup.
 */
export async function mayExchange(client: ClientBase): Promise<boolean> {
  return takes(client, 'pg_try_advisory_xact_lock');
}

/** For a backup, before its reading transaction begins. Holds until the connection ends. */
export async function mayReadAll(client: ClientBase): Promise<boolean> {
  return takes(client, 'pg_try_advisory_lock_shared');
}

async function takes(client: ClientBase, lock: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(`select ${lock}($1) as held`, [EXCHANGE_LOCK]);
  return rows[0]?.held === true;
}

/** Brings the copy of a shard to a position. */
export type ReplayShardTo = (shard: number, to: number) => Promise<void>;

/** Replaces all live tables. The first lock stops every projector, so that few records are left to catch up with. */
export async function exchangeSchemas(
  client: ClientBase,
  projection: ProjectionTables,
  copyOf: SchemaOf,
  catchUp: ReplayShardTo,
): Promise<void> {
  const others = projection.tables.map((table) => qualified(table));
  await client.query(`lock table ${qualified(projection.offsets)} in access exclusive mode`);
  for (const [shard, to] of await new OffsetsTable(projection).positions(client)) await catchUp(shard, to);
  await client.query(`lock table ${others.join(', ')} in access exclusive mode`);
  for (const live of schemasOf(projection)) {
    await client.query(`drop schema ${live} cascade`);
    await client.query(`alter schema ${copyOf(live)} rename to ${live}`);
  }
}

/** Replaces the live rows of one shard. Its projector waits for the lock on the offset meanwhile. */
export async function exchangeShard(
  client: ClientBase,
  projection: ProjectionTables,
  copyOf: SchemaOf,
  { shard, catchUp }: { readonly shard: number; readonly catchUp: ReplayShardTo },
): Promise<void> {
  const { sequence } = await new OffsetsTable(projection).lock(client, shard);
  await catchUp(shard, sequence);
  for (const table of tablesOf(projection)) {
    await client.query(`delete from ${qualified(table)} where ${table.shard} = $1`, [shard]);
    await client.query(`insert into ${qualified(table)} select * from ${qualified(table, copyOf)}`);
  }
}
