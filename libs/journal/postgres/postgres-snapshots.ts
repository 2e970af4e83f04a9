import type { Pool } from 'pg';
import type { JournalFamily } from '../journal-id.js';
import type { Snapshot, SnapshotStore } from '../sealed-snapshots.js';

const SAVE = `
  insert into journal.snapshots (family, shard, sequence, hash, format_version, body)
  values ($1, $2, $3, decode($4, 'hex'), $5, $6)
  on conflict (family, shard, sequence) do update
  set hash = excluded.hash, format_version = excluded.format_version, body = excluded.body, saved_at = now()`;

const FORGET = `
  delete from journal.snapshots
  where family = $1 and shard = $2 and sequence not in (
    select sequence from journal.snapshots where family = $1 and shard = $2 order by sequence desc limit 2
  )`;

const LATEST = `
  select sequence, encode(hash, 'hex') as hash, format_version as "formatVersion", body
  from journal.snapshots where family = $1 and shard = $2 and ($3::bigint is null or sequence < $3)
  order by sequence desc limit 1`;

export class PostgresSnapshotStore implements SnapshotStore {
  constructor(
    private readonly pool: Pool,
    private readonly family: JournalFamily,
  ) {}

  async save(shard: number, { sequence, hash, formatVersion, body }: Snapshot): Promise<void> {
    await this.pool.query(SAVE, [this.family, shard, sequence, hash, formatVersion, body]);
    // Not in one transaction: if this fails, one snapshot too many stays until the next is saved.
    await this.pool.query(FORGET, [this.family, shard]);
  }

  async latest(shard: number, before?: number): Promise<Snapshot | undefined> {
    const { rows } = await this.pool.query<Snapshot>(LATEST, [this.family, shard, before ?? null]);
    return rows[0];
  }
}
