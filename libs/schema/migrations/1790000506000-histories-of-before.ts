import type { MigrationInterface, QueryRunner } from 'typeorm';

/** As many as a history has room for. */
const MOST_POSITIONS = 4_000_000;

/**
 * Of the auctions that owners of earlier releases have forgotten the projections alone know what they were made of. One pass over all events:
 * 300,000 auctions of eight events each took 25 s on two processors that were busy, and nobody waits for it. Projectors may have written what no
 * journal has: that must not keep the schema from being brought up to date.
 */
const OF_BEFORE = `
  insert into journal.histories (auction_id, shard, positions)
  select auction_id, min(shard), array_agg(sequence order by sequence)
  from execution.events
  where auction_id in (select auction_id from completed.auctions where completed_at is not null)
    and sequence between 1 and ${Number.MAX_SAFE_INTEGER} and shard >= 0
  group by auction_id
  having count(*) <= ${MOST_POSITIONS}
  on conflict do nothing`;

export class HistoriesOfBefore1790000506000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(OF_BEFORE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('delete from journal.histories');
  }
}
