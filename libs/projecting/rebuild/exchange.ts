import type { ClientBase } from 'pg';
import { LIVE, type Schemas } from '../schemas.js';
import { CATALOGUE, qualified } from '../table-catalogue.js';
import { PositionsTable } from '../positions.js';

/** Brings the copy of a shard to a position. */
export type CatchUp = (shard: number, to: number) => Promise<void>;

/** The copies take the place of everything. From the first lock on no projector writes, so the last of the copy is short. */
export async function exchangeSchemas(client: ClientBase, copies: Schemas, catchUp: CatchUp): Promise<void> {
  const [positions, ...others] = CATALOGUE.map((table) => qualified(table, LIVE));
  await client.query(`lock table ${positions ?? ''} in access exclusive mode`);
  for (const [shard, to] of await new PositionsTable(LIVE).all(client)) await catchUp(shard, to);
  await client.query(`lock table ${others.join(', ')} in access exclusive mode`);
  for (const [name, live] of Object.entries(LIVE) as [keyof Schemas, string][]) {
    await client.query(`drop schema ${live} cascade`);
    await client.query(`alter schema ${copies[name]} rename to ${live}`);
  }
}

/** The copies' rows of one shard take the place of those in use. The projector of the shard waits at its position meanwhile. */
export async function exchangeShard(
  client: ClientBase,
  copies: Schemas,
  shard: number,
  catchUp: CatchUp,
): Promise<void> {
  const { sequence } = await new PositionsTable(LIVE).lock(client, shard);
  await catchUp(shard, sequence);
  for (const table of CATALOGUE) {
    await client.query(`delete from ${qualified(table, LIVE)} where ${table.shard} = $1`, [shard]);
    await client.query(`insert into ${qualified(table, LIVE)} select * from ${qualified(table, copies)}`);
  }
}
