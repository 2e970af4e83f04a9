import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Null until the record is witnessed anew: by the next start of the shard's owner, at the latest. */
const COLUMNS = `
  alter table journal.witness
    add column epoch integer,
    add column log_offset bigint check (log_offset >= 0),
    add constraint witness_place check ((epoch is null) = (log_offset is null))`;

/** Where in its topic the last known record of a shard stands, so that whoever reads begins behind it. */
export class WitnessPlace1790000103000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table journal.witness drop column epoch, drop column log_offset');
  }
}
