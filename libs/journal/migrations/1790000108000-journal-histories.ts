import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The longest list that can still be read: no auction has as many events. */
const MOST_POSITIONS = 4_000_000;

/**
 * Which records of its shard's journal an auction is made of, written by the owner before it forgets the auction. Owners alone may add
 * here, and not even they take anything away: who takes an auction out of the projections cannot have it begin anew.
 */
const HISTORIES = `
  create table journal.histories (
    auction_id uuid primary key,
    shard smallint not null check (shard >= 0),
    positions bigint[] not null,
    constraint positions_has_room check (cardinality(positions) between 1 and ${MOST_POSITIONS}),
    constraint positions_are_a_list check (
      array_ndims(positions) = 1 and array_lower(positions, 1) = 1 and array_position(positions, null) is null
    ),
    constraint positions_can_be_read check (1 <= all (positions) and ${Number.MAX_SAFE_INTEGER} >= all (positions))
  )`;

export class JournalHistories1790000108000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(HISTORIES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table journal.histories');
  }
}
