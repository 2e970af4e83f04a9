import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Instants are bigint nanoseconds since 1970: 8 bytes in row and index where their text takes 31, and the same order. There
 * are about nine viewers an auction, so their rows hold nothing that the state can tell as well. Constraints and indexes are
 * named by Postgres, so that a rebuilt copy of a table bears the same names.
 */
const TABLES = `
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

  create table completed.viewers (
    viewer_id uuid not null,
    auction_id uuid not null,
    opened_at bigint not null,
    completed_at bigint not null,
    is_originator boolean not null,
    primary key (viewer_id, opened_at, auction_id)
  );
`;

export class CompletedSchema1790000400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema completed cascade');
  }
}
