import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Calls that each replica has counted, for the others; of the last two minutes. After a crash of the database they are gone, as is meant. */
const COUNTS = `
  create unlogged table data.call_counts (
    entry_no bigint generated always as identity primary key,
    replica text not null check (length(replica) <= 128),
    written_at timestamptz not null default clock_timestamp(),
    calls jsonb not null check (pg_column_size(calls) <= 4194304)
  );
  create index on data.call_counts (written_at)`;

export class CallCounts1790000610000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COUNTS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table data.call_counts');
  }
}
