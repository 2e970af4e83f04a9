import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Auditors list all completed auctions, whoever took part; what is over for some makers only is none of theirs yet. */
const LISTED = `
  create index on completed.auctions (opened_at, auction_id) where completed_at is not null;
`;

/**
 * Which auditor was given what. The time is the database's own, and rows stay as they were written, whoever is connected: a
 * gateway that is in the wrong hands can add to this table and take nothing away.
 */
const READS = `
  create schema audit;

  create table audit.reads (
    read_id bigint generated always as identity primary key,
    read_at timestamptz not null default clock_timestamp(),
    reader_id uuid not null,
    request_id text not null,
    gateway text not null,
    what text not null check (what in ('LIST', 'AUCTION', 'BUNDLE')),
    auction_ids uuid[] not null,
    status smallint not null
  );
  create index on audit.reads (reader_id, read_id);
  create index on audit.reads using gin (auction_ids);

  create function audit.refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
  end
  $$;
  create trigger reads_stay before update or delete or truncate on audit.reads
  for each statement execute function audit.refuse_change();
`;

export class AuditSchema1790000402000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(LISTED);
    await runner.query(READS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema audit cascade');
    await runner.query('drop index completed.auctions_opened_at_auction_id_idx');
  }
}
