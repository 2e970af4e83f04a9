import type { Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { BEFORE_FIRST } from '../hash-chain.js';
import type { JournalEntry, JournalHead } from '../journal.js';
import { checkFollows, type JournalReceiver } from '../stores/journal-receiver.js';

const HEAD = `
  select sequence, epoch, encode(hash, 'hex') as hash from journal.records
  where shard = $1 order by sequence desc limit 1`;
const EPOCH = `
  insert into journal.shards as known (shard, epoch) values ($1, $2)
  on conflict (shard) do update set epoch = greatest(known.epoch, excluded.epoch)`;
const RECORDS = `
  insert into journal.records (shard, sequence, epoch, kind, payload, hash, seal)
  select $1, sequence, epoch, kind, payload, decode(hash, 'hex'), decode(seal, 'hex')
  from unnest($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[])
    as record (sequence, epoch, kind, payload, hash, seal)`;

export class PostgresReceiver implements JournalReceiver {
  constructor(private readonly pool: Pool) {}

  async head(shard: number): Promise<JournalHead> {
    const { rows } = await this.pool.query<JournalHead>(HEAD, [shard]);
    return rows[0] ?? BEFORE_FIRST;
  }

  async receive(shard: number, entries: readonly JournalEntry[]): Promise<void> {
    const [first] = entries;
    const last = entries.at(-1);
    if (first === undefined || last === undefined) return;
    await withTransaction(this.pool, 'read committed', async (client) => {
      await client.query(EPOCH, [shard, last.epoch]);
      // Behind the row's lock: nobody else adds to the shard now.
      const { rows } = await client.query<JournalHead>(HEAD, [shard]);
      checkFollows(shard, rows[0] ?? BEFORE_FIRST, first);
      await client.query(RECORDS, [
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
