import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Free pages and no index on what changes keep every update HOT: the index is not touched, so serializable transactions
 * on neighbouring accounts do not get in each other's way.
 *
 * Evidence carries no checks on purpose. It is the word of another authority; the reader judges it and fails closed.
 */
const TABLES = `
  create schema risk;

  create table risk.evidence (
    account_id text not null,
    venue text not null,
    resource text not null,
    asset text not null default '',
    amount bigint not null,
    settled bigint not null default 0,
    source_sequence bigint not null,
    risk_valid_until timestamptz not null,
    authority_valid_until timestamptz not null,
    primary key (account_id, venue, resource, asset)
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
  comment on column risk.evidence.settled is
    'all that settlements ever took from amount: until their holds are released, reserved may exceed amount by so much';

  create table risk.reserved (
    account_id text not null,
    venue text not null,
    resource text not null,
    asset text not null default '',
    shard_0 bigint not null default 0 check (shard_0 >= 0),
    shard_1 bigint not null default 0 check (shard_1 >= 0),
    shard_2 bigint not null default 0 check (shard_2 >= 0),
    primary key (account_id, venue, resource, asset)
  ) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.05);

  create table risk.shard_fence (
    shard smallint primary key check (shard between 0 and 2),
    epoch bigint not null
  ) with (fillfactor = 10);
`;

/** Owners then never insert while they reserve, and an insert is what would touch the index. */
const ROOM_FOR_HOLDS = `
  create function risk.make_room_for_holds() returns trigger language plpgsql as $$
  begin
    insert into risk.reserved (account_id, venue, resource, asset)
    select account_id, venue, resource, asset from added order by 1, 2, 3, 4
    on conflict do nothing;
    return null;
  end
  $$;
  create trigger make_room_for_holds after insert on risk.evidence
  referencing new table as added for each statement execute function risk.make_room_for_holds();
`;

export class RiskSchema1790000201000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(ROOM_FOR_HOLDS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema risk cascade');
  }
}
