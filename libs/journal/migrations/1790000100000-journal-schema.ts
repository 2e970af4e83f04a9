import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `journal.shards.epoch` is the fence: whoever appends holds the row's share lock and finds its own epoch there. An epoch
 * may be spent without a record, never the other way round.
 */
const TABLES = `
  create schema journal;

  create table journal.shards (
    shard smallint primary key check (shard >= 0),
    epoch integer not null check (epoch > 0)
  );

  create table journal.records (
    shard smallint not null,
    sequence bigint not null check (sequence > 0),
    epoch integer not null,
    kind text not null check (kind in ('epoch', 'event')),
    payload text not null,
    hash bytea not null check (octet_length(hash) = 32),
    recorded_at timestamptz not null default now(),
    primary key (shard, sequence)
  );

  create table journal.snapshots (
    shard smallint not null,
    sequence bigint not null,
    hash bytea not null check (octet_length(hash) = 32),
    format_version integer not null,
    body bytea not null,
    saved_at timestamptz not null default now(),
    primary key (shard, sequence)
  );
`;

export class JournalSchema1790000100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema journal cascade');
  }
}
