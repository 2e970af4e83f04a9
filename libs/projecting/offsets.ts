import type { ClientBase } from 'pg';
import { beforeFirst } from '#libs/journal/hash-chain.js';
import type { JournalEntry, JournalHead } from '#libs/journal/journal.js';
import { LIVE, qualified, type ProjectionTables } from './projection.js';

/** The last record of a shard that is projected. */
export type ProjectedEnd = Pick<JournalHead, 'sequence' | 'hash'>;

type Client = Pick<ClientBase, 'query'>;

/** The offsets of a projection: up to which record of each shard's journal its rows are written. */
export class OffsetsTable {
  private readonly table: string;

  constructor(
    private readonly projection: Pick<ProjectionTables, 'family' | 'offsets'>,
    schemaOf = LIVE,
  ) {
    this.table = qualified(projection.offsets, schemaOf);
  }

  /** The holder of the row lock is the only writer of the shard's rows until its transaction ends. */
  async lock(client: Client, shard: number): Promise<JournalHead> {
    const text = `select epoch, sequence, encode(hash, 'hex') as hash from ${this.table} where shard = $1 for update`;
    const { rows } = await client.query<JournalHead>({ name: `${this.table}-lock`, text, values: [shard] });
    if (rows[0] !== undefined) return rows[0];
    const { epoch, sequence, hash } = beforeFirst(this.projection.family);
    await client.query(
      `insert into ${this.table} (shard, epoch, sequence, hash) values ($1, $2, $3, decode($4, 'hex'))
       on conflict (shard) do nothing`,
      [shard, epoch, sequence, hash],
    );
    return this.lock(client, shard);
  }

  async move(client: Client, { shard, epoch, sequence, hash }: JournalEntry): Promise<void> {
    await client.query({
      name: `${this.table}-move`,
      text: `update ${this.table} set epoch = $2, sequence = $3, hash = decode($4, 'hex') where shard = $1`,
      values: [shard, epoch, sequence, hash],
    });
  }

  /** The sequence of the last projected record, 0 before the first. */
  async position(client: Client, shard: number): Promise<number> {
    const { rows } = await client.query<{ sequence: number }>({
      name: `${this.table}-position`,
      text: `select sequence from ${this.table} where shard = $1`,
      values: [shard],
    });
    return rows[0]?.sequence ?? 0;
  }

  /** By shard. */
  async positions(client: Client): Promise<Map<number, number>> {
    const ends = await this.ends(client);
    return new Map([...ends].map(([shard, { sequence }]) => [shard, sequence]));
  }

  async ends(client: Client): Promise<Map<number, ProjectedEnd>> {
    const { rows } = await client.query<ProjectedEnd & { readonly shard: number }>(
      `select shard, sequence, encode(hash, 'hex') as hash from ${this.table} order by shard`,
    );
    return new Map(rows.map(({ shard, sequence, hash }) => [shard, { sequence, hash }]));
  }
}
