import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { ClientBase } from 'pg';
import { beforeFirst, linkEpoch, linkEvent } from '#libs/journal/hash-chain.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import type { MigrationClass } from '#libs/platform/database/migrate.js';
import type { JournalBatch, Projection, ProjectionWriter, Recall } from '#libs/projecting/projection.js';

/** The schema of an example service: a table of offsets and a table for reads. */
class InitialTally1790000900000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema tally;
      create table tally.offsets (shard smallint primary key, epoch integer not null, sequence bigint not null, hash bytea not null);
      create table tally.counts (shard smallint, key text, count integer not null, primary key (shard, key));`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema tally cascade');
  }
}

export const tallyMigrations: readonly MigrationClass[] = [InitialTally1790000900000];

/** Counts how often each key was journaled. This is all that a service needs for a projection of its own. */
export const tally: Projection<number> = {
  name: 'tally',
  family: 'data',
  offsets: { schema: 'tally', name: 'offsets' },
  tables: [{ schema: 'tally', name: 'counts', key: ['shard', 'key'], shard: 'shard' }],
  capacity: 3,
  writer: (schemaOf) => new TallyWriter(`${schemaOf('tally')}.counts`),
};

class TallyWriter implements ProjectionWriter<number> {
  constructor(private readonly table: string) {}

  async apply(
    client: ClientBase,
    { shard, entries }: JournalBatch,
    recall: Recall<number>,
  ): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { kind, payload } of entries) {
      if (kind === 'epoch') continue;
      const key = keyOf(payload);
      const before = counts.get(key) ?? recall(key) ?? (await this.stored(client, shard, key));
      counts.set(key, before + 1);
    }
    const text = `insert into ${this.table} (shard, key, count) select $1, * from unnest($2::text[], $3::integer[])
      on conflict (shard, key) do update set count = excluded.count`;
    await client.query(text, [shard, [...counts.keys()], [...counts.values()]]);
    return counts;
  }

  private async stored(client: ClientBase, shard: number, key: string): Promise<number> {
    const text = `select count from ${this.table} where shard = $1 and key = $2`;
    const { rows } = await client.query<{ count: number }>(text, [shard, key]);
    return rows[0]?.count ?? 0;
  }
}

export function tallyPayload(key: string): string {
  return JSON.stringify({ key });
}

function keyOf(payload: string): string {
  const parsed = JSON.parse(payload) as { readonly key: string };
  return parsed.key;
}

/** The first records of a shard, made without a store. Another seed gives another journal. */
export function tallyRecords(shard: number, events: number, seed = 0): JournalEntry[] {
  const records = [linkEpoch(shard, beforeFirst(tally.family), 1, `opener ${seed}`)];
  for (let number = 0; number < events; number += 1) {
    const before = records[number] ?? beforeFirst(tally.family);
    records.push(linkEvent(shard, before, tallyPayload(`key-${(number * number + seed) % 11}`)));
  }
  return records;
}
