import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Calls that each replica counted in the last two minutes, for the other replicas. The table is meant to be empty after a crash of
 * the database.
 */
const COUNTS = `
  create unlogged table data.call_counts (
    entry_no bigint generated always as identity primary key
      constraint entry_no_can_be_read check (entry_no between -9007199254740991 and 9007199254740991),
    replica text not null constraint replica_has_room check (octet_length(replica) <= 128),
    written_at timestamptz not null default clock_timestamp() constraint written_at_can_be_read
      check (written_at >= '1970-01-01 00:00:00+00' and written_at < '9999-12-31 00:00:00+00'),
    calls jsonb not null constraint calls_has_room check (octet_length(calls::text) <= 1048576)
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
