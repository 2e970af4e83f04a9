import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The oldest generation of releases that may work on this database, and the release that set it. Only migrations raise it. Every
 * process checks it when it starts.
 */
const GENERATION = `
  create table meta.generation (
    only_row boolean primary key default true check (only_row),
    oldest integer not null check (oldest > 0),
    release text not null
  );
  insert into meta.generation (oldest, release) values (1, '0.3.0')`;

/**
 * Each take-over of a shard uses an epoch, and there is less than one take-over a second. With the owners' login one could set an
 * epoch that none can follow. So an epoch is at most the number of seconds since this moment, with a million to spare for wrong
 * clocks.
 */
const SINCE = '2026-01-01 00:00:00+00';
const SPARE = 1_000_000;

const MOST = `${SPARE} + greatest(0, floor(extract(epoch from clock_timestamp() - timestamptz '${SINCE}')))::bigint`;

/** The table role is exempt, because it repairs tables. */
const UNLESS_OWNER = `
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return new;
    end if;`;

const EPOCHS = `
  create function journal.bound_epoch() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin${UNLESS_OWNER}
    if new.epoch > ${MOST} then
      raise exception 'shard % cannot have come to epoch %', new.shard, new.epoch using errcode = 'integrity_constraint_violation';
    end if;
    if tg_op = 'UPDATE' and ((new.family, new.shard) <> (old.family, old.shard) or new.epoch <= old.epoch) then
      raise exception 'epoch % of shard % is over', new.epoch, new.shard using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end
  $$;

  create trigger bound_epoch before insert or update on journal.shards
    for each row execute function journal.bound_epoch();
`;

/**
 * With a fence ahead of its auction shard's epoch no owner can reserve. In Kafka the epochs are in the topics, which the database
 * does not know.
 */
const FENCES = `
  create function risk.bound_fence() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    most bigint;
  begin${UNLESS_OWNER}
    if exists (select from journal.home where family = 'auction') then
      most := ${MOST};
    else
      select epoch into most from journal.shards
        where family = 'auction' and shard = new.shard;
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

/**
 * A row with hundreds of megabytes of text needs little room on disk, but ends every process that reads it. One login could end
 * all other processes that way, again and again. Names and reasons are far below this limit.
 */
const NAME_BYTES = 8_192;
const LIST_BYTES = 65_536;
/** The projected rows of an auction grow with it. Above this size no process could read them. */
const PROJECTED_BYTES = 134_217_728;
/** The limit of one record in `journal/limits.ts`. */
const PAYLOAD_BYTES = 1_048_576;
/** The largest snapshot that the snapshot keeper writes, and its MAC. */
const SNAPSHOT_BYTES = 268_435_456 + 32;
const SEAL_BYTES = 64;

/** All schemas that processes read. */
const BOUNDED = [
  ...['identity', 'control', 'risk', 'custody', 'journal', 'completed', 'auction_history', 'audit'],
  ...['execution', 'execution_control', 'signer'],
]
  .map((schema) => `'${schema}'`)
  .join(', ');

const SIZES = `
  do $$
  declare
    place record;
  begin
    for place in
      select c.oid::regclass as name, a.attname as col, format_type(a.atttypid, null) as kind,
        case
          when c.oid = 'journal.snapshots'::regclass and a.attname = 'body' then ${SNAPSHOT_BYTES}
          when c.oid = 'journal.records'::regclass and a.attname = 'payload' then ${PAYLOAD_BYTES}
          when c.oid = 'journal.records'::regclass and a.attname = 'seal' then ${SEAL_BYTES}
          when n.nspname in ('completed', 'auction_history', 'execution') then ${PROJECTED_BYTES}
          when a.atttypid in ('text[]'::regtype, 'uuid[]'::regtype, 'jsonb'::regtype) then ${LIST_BYTES}
          else ${NAME_BYTES}
        end as most
      from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in (${BOUNDED})
        and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
        and a.atttypid in ('text'::regtype, 'bytea'::regtype, 'jsonb'::regtype, 'text[]'::regtype, 'uuid[]'::regtype)
    loop
      execute format(
        case when place.kind in ('text', 'bytea')
          then 'alter table %1$s add constraint %2$I check (octet_length(%3$I) <= %4$s)'
          else 'alter table %1$s add constraint %2$I check (octet_length(%3$I::text) <= %4$s)'
        end, place.name, place.col || '_has_room', place.col, place.most);
    end loop;
  end
  $$`;

/**
 * A number that JavaScript cannot hold exactly, or an invalid time, ends the process that reads it, on purpose. One such row
 * would stop every process that reads all rows. Projections keep times of events (`..._at`) as nanoseconds. Records of journals
 * are protected by the hash chain instead.
 */
const NUMBERS = `
  do $$
  declare
    place record;
  begin
    for place in
      select c.oid::regclass as name, a.attname as col,
        case
          when a.atttypid = 'timestamptz'::regtype then '%3$I >= ''1970-01-01 00:00:00+00'' and %3$I < ''9999-12-31 00:00:00+00'''
          when a.attname like '%\\_at' then '%3$I >= 0'
          else '%3$I between -9007199254740991 and 9007199254740991'
        end as bounds
      from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in (${BOUNDED})
        and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
        and a.atttypid in ('bigint'::regtype, 'timestamptz'::regtype) and c.oid <> 'journal.records'::regclass
    loop
      execute format('alter table %1$s add constraint %2$I check (' || place.bounds || ')',
        place.name, place.col || '_can_be_read', place.col);
    end loop;
  end
  $$`;

/** Removes the limits that were added to each table. */
const UNBOUNDED = `
  do $$
  declare
    bound record;
  begin
    for bound in
      select conrelid::regclass as name, conname from pg_constraint
      where contype = 'c' and conname ~ '_(can_be_read|has_room)$' and conrelid <> 'journal.histories'::regclass
    loop
      execute format('alter table %s drop constraint %I', bound.name, bound.conname);
    end loop;
  end
  $$`;

/** Changes that concern several schemas or every table. */
export class InitialBounds1790000500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(GENERATION);
    await runner.query(EPOCHS);
    await runner.query(FENCES);
    await runner.query(SIZES);
    await runner.query(NUMBERS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(UNBOUNDED);
    await runner.query('drop trigger bound_fence on risk.shard_fence; drop function risk.bound_fence()');
    await runner.query('drop trigger bound_epoch on journal.shards; drop function journal.bound_epoch()');
    await runner.query('drop table meta.generation');
  }
}
