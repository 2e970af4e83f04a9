import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The oldest generation of releases that may work on this database, and the release whose migration said so. Only migrations raise it, as
 * decision 27 allows; every process asks for it when it starts.
 */
const GENERATION = `
  create table meta.generation (
    only_row boolean primary key default true check (only_row),
    oldest integer not null check (oldest > 0),
    release text not null
  );
  insert into meta.generation (oldest, release) values (1, '0.3.0')`;

/**
 * Each take-over of a shard gives out an epoch, and there is not one in a second. With the owners' login an epoch could be made after which
 * no other fits. So it is at most the seconds since this moment, with a million to spare for clocks that are wrong.
 */
const SINCE = '2026-01-01 00:00:00+00';
const SPARE = 1_000_000;

const MOST = `${SPARE} + greatest(0, floor(extract(epoch from clock_timestamp() - timestamptz '${SINCE}')))::bigint`;

/** The owner of the tables is exempt: it puts things right. */
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
 * A fence ahead of its auction shard's epoch lets no owner reserve any more. In Kafka the epochs are those of the topics, which the database does
 * not know.
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
 * Hundreds of megabytes of text need little room on the disk, and none that reads them has room for them: one row made with the login of
 * one process would end all others, again and again. Names and reasons are far below this.
 */
const NAME_BYTES = 8_192;
const LIST_BYTES = 65_536;
/** What is projected of an auction grows with it. Further than this no process could read it. */
const PROJECTED_BYTES = 134_217_728;
/** As much as `journal/limits.ts` lets one record hold. */
const PAYLOAD_BYTES = 1_048_576;
/** As much as the snapshot keeper writes, and its seal. */
const SNAPSHOT_BYTES = 268_435_456 + 32;
const SEAL_BYTES = 64;

/** Every schema that processes read. */
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
 * A number beyond those that JavaScript holds exactly, or a moment that is none, fails the process that reads it, on purpose; where all rows
 * are read together, one would stop everything. So no row has any. Projections keep moments of events (`..._at`) as nanoseconds. Of the
 * journals' records the chain is asked instead.
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

/** Of the bounds that a function adds to each table, the way back. */
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

/** What concerns several schemas at once, or every table. */
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
