import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Instants are bigint nanoseconds: 8 bytes where text takes 31, in the same order. PostgreSQL names constraints and indexes, so a
 * rebuilt copy has the same names. `viewers`: `shard` and `sequence` are the record with which the auction became over. The index
 * begins with the viewer, so an unknown auction and one of others miss in the same place.
 */
const COMPLETED = `
  create schema completed;

  create table completed.auctions (
    auction_id uuid primary key,
    opened_at bigint not null,
    completed_at bigint,
    sequence bigint not null,
    events integer not null check (events > 0),
    shard smallint not null,
    status text not null,
    state text not null
  );
  create index on completed.auctions (opened_at, auction_id) where completed_at is not null;

  create table completed.viewers (
    viewer_id uuid not null,
    auction_id uuid not null,
    opened_at bigint not null,
    completed_at bigint not null,
    is_originator boolean not null,
    shard smallint not null,
    sequence bigint not null,
    primary key (viewer_id, opened_at, auction_id)
  );
  create index on completed.viewers (viewer_id, shard, sequence);
  create index on completed.viewers (viewer_id, auction_id);
`;

/**
 * `events` is the auctions' part of the journal. `command_key` is the caller's idempotency key: repeats of commands on auctions
 * are found by it. `answers` has the replies that belong to no auction's history.
 */
const EXECUTION = `
  create schema auction_history;

  create table auction_history.projection_offsets (
    shard smallint primary key check (shard >= 0),
    epoch integer not null,
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32)
  );

  create table auction_history.events (
    auction_id uuid not null,
    sequence bigint not null,
    occurred_at bigint not null,
    shard smallint not null,
    version smallint not null,
    type text not null,
    command_key text,
    hash bytea not null check (octet_length(hash) = 32),
    payload text not null,
    primary key (auction_id, sequence)
  );
  create index on auction_history.events (auction_id, command_key) where command_key is not null;

  create table auction_history.quotes (
    quote_id uuid primary key,
    auction_id uuid not null,
    account_id uuid not null,
    submitted_at bigint not null,
    status text not null,
    view text not null
  );
  create index on auction_history.quotes (account_id, submitted_at, quote_id);
  create index on auction_history.quotes (account_id, status, submitted_at, quote_id);

  create table auction_history.answers (
    account_id uuid not null,
    sequence bigint not null,
    expires_at bigint not null,
    shard smallint not null,
    status smallint not null,
    operation text not null,
    key text not null,
    content text not null,
    body text not null,
    primary key (account_id, operation, key, shard)
  );
  create index on auction_history.answers (expires_at);
`;

/**
 * Which auditor read what. The time is the database's, and rows never change: a gateway in the wrong hands can add rows but
 * remove none.
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

export class InitialProjections1790000400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COMPLETED);
    await runner.query(EXECUTION);
    await runner.query(READS);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const schema of ['audit', 'auction_history', 'completed'])
      await runner.query(`drop schema ${schema} cascade`);
  }
}
