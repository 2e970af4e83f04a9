import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `events` holds the auctions' part of the journal, each auction's events together in the index. `command_key` is the
 * caller's name for the command that caused the event: repeats of commands on auctions are found by it, so no other table
 * has to remember them. `answers` is for what belongs to no auction's history.
 */
const TABLES = `
  create schema execution;

  create table execution.positions (
    shard smallint primary key check (shard >= 0),
    epoch integer not null,
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32)
  );

  create table execution.events (
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
  create index on execution.events (auction_id, command_key) where command_key is not null;

  create table execution.quotes (
    quote_id uuid primary key,
    auction_id uuid not null,
    account_id uuid not null,
    submitted_at bigint not null,
    status text not null,
    view text not null
  );
  create index on execution.quotes (account_id, submitted_at, quote_id);
  create index on execution.quotes (account_id, status, submitted_at, quote_id);

  create table execution.answers (
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
  create index on execution.answers (expires_at);
`;

export class ExecutionSchema1790000401000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema execution cascade');
  }
}
