import type { Pool } from 'pg';
import type { Snapshot, SnapshotStore } from '../snapshots.js';

const SAVE = `
  insert into journal.snapshots (shard, sequence, hash, format_version, body)
  values ($1, $2, decode($3, 'hex'), $4, $5)
  on conflict (shard, sequence) do update
  set hash = excluded.hash, format_version = excluded.format_version, body = excluded.body, saved_at = now()`;

const FORGET = `
  delete from journal.snapshots
  where shard = $1 and sequence not in (
    select sequence from journal.snapshots where shard = $1 order by sequence desc limit 2
  )`;

const LATEST = `
  select sequence, encode(hash, 'hex') as hash, format_version as "formatVersion", body
  from journal.snapshots where shard = $1 and ($2::bigint is null or sequence < $2)
  order by sequence desc limit 1`;

export class PostgresSnapshotStore implements SnapshotStore {
  constructor(private readonly pool: Pool) {}

  async save(shard: number, { sequence, hash, formatVersion, body }: Snapshot): Promise<void> {
    await this.pool.query(SAVE, [shard, sequence, hash, formatVersion, body]);
    // Not in one transaction: should this fail, one snapshot too many stays until the next is saved.
    await this.pool.query(FORGET, [shard]);
  }

  async latest(shard: number, before?: number): Promise<Snapshot | undefined> {
    const { rows } = await this.pool.query<Snapshot>(LATEST, [shard, before ?? null]);
    return rows[0];
  }
}
