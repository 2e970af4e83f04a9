import type { MigrationInterface, QueryRunner } from 'typeorm';
import { UNLESS_OWNER } from './unless-owner.js';

/**
 * An epoch is given out by each take-over of a shard, of which there is not one in a second. Whoever has the login of owners could make one so
 * great that no other fits behind it, and the shard would never have an owner again. What is greater than the seconds since this moment is
 * refused, with a million to spare for clocks that are wrong: an `integer` lasts until 2094.
 */
const SINCE = '2026-01-01 00:00:00+00';
const SPARE = 1_000_000;

const MOST = `${SPARE} + greatest(0, floor(extract(epoch from clock_timestamp() - timestamptz '${SINCE}')))::bigint`;

/** Who owns the tables is not asked, here as in the other guards: that is who puts things right. */
const EPOCHS = `
  create function journal.bound_epoch() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin${UNLESS_OWNER}
    if new.epoch > ${MOST} then
      raise exception 'shard % cannot have come to epoch %', new.shard, new.epoch using errcode = 'integrity_constraint_violation';
    end if;
    if tg_op = 'UPDATE' and (new.shard <> old.shard or new.epoch <= old.epoch) then
      raise exception 'epoch % of shard % is over', new.epoch, new.shard using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end
  $$;

  create trigger bound_epoch before insert or update on journal.shards
    for each row execute function journal.bound_epoch();
`;

/**
 * A fence in front of its shard's epoch lets nobody reserve any more. In Kafka the epochs are those of the topics, which the database
 * does not know.
 */
const FENCES = `
  create function risk.bound_fence() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    most bigint;
  begin${UNLESS_OWNER}
    if exists (select from journal.home) then
      most := ${MOST};
    else
      select epoch into most from journal.shards where shard = new.shard;
    end if;
    if new.epoch > coalesce(most, 0) then
      raise exception 'shard % has not come to epoch %', new.shard, new.epoch using errcode = 'integrity_constraint_violation';
    end if;
    if tg_op = 'UPDATE' and (new.shard <> old.shard or new.epoch < old.epoch) then
      raise exception 'epoch % of shard % is over', new.epoch, new.shard using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end
  $$;

  create trigger bound_fence before insert or update on risk.shard_fence
    for each row execute function risk.bound_fence();
`;

export class EpochsInBounds1790000501000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(EPOCHS);
    await runner.query(FENCES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop trigger bound_fence on risk.shard_fence; drop function risk.bound_fence()');
    await runner.query('drop trigger bound_epoch on journal.shards; drop function journal.bound_epoch()');
  }
}
