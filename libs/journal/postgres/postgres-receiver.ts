import type { Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { beforeFirst } from '../hash-chain.js';
import type { JournalEntry, JournalHead } from '../journal.js';
import type { JournalFamily } from '../journal-id.js';
import { checkFollows, type JournalReceiver } from '../stores/journal-store.js';

const HEAD = `
  select sequence, epoch, encode(hash, 'hex') as hash from journal.records
  where family = $1 and shard = $2 order by sequence desc limit 1`;
const EPOCH = `
  insert into journal.shards as known (family, shard, epoch) values ($1, $2, $3)
  on conflict (family, shard) do update set epoch = greatest(known.epoch, excluded.epoch)`;
const RECORDS = `
  insert into journal.records (family, shard, sequence, epoch, kind, payload, hash, seal)
  select $1, $2, sequence, epoch, kind, payload, decode(hash, 'hex'), decode(seal, 'hex')
  from unnest($3::bigint[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[])
    as record (sequence, epoch, kind, payload, hash, seal)`;

export class PostgresReceiver implements JournalReceiver {
  constructor(
    private readonly pool: Pool,
    private readonly family: JournalFamily,
  ) {}

  async head(shard: number): Promise<JournalHead> {
    const { rows } = await this.pool.query<JournalHead>(HEAD, [this.family, shard]);
    return rows[0] ?? beforeFirst(this.family);
  }

  async receive(shard: number, entries: readonly JournalEntry[]): Promise<void> {
    const [first] = entries;
    const last = entries.at(-1);
    if (first === undefined || last === undefined) return;
    await withTransaction(this.pool, 'read committed', async (client) => {
      await client.query(EPOCH, [this.family, shard, last.epoch]);
      // The row is locked: no other process appends to the shard now.
      const { rows } = await client.query<JournalHead>(HEAD, [this.family, shard]);
      checkFollows(shard, rows[0] ?? beforeFirst(this.family), first);
      await client.query(RECORDS, [
        this.family,
        shard,
        entries.map(({ sequence }) => sequence),
        entries.map(({ epoch }) => epoch),
        entries.map(({ kind }) => kind),
        entries.map(({ payload }) => payload),
        entries.map(({ hash }) => hash),
        entries.map(({ seal }) => seal?.toString('hex') ?? null),
      ]);
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
