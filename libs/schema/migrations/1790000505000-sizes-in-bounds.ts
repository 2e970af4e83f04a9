import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A text of hundreds of megabytes needs a few on the disk, and whoever reads it, be it with a thousand other rows, has no room for it: with the
 * login of one process a row could be made that ended all others, again and again. Names and reasons are far below this.
 */
const NAME_BYTES = 8_192;
const LIST_BYTES = 65_536;
/** What is projected of an auction grows with it. Further than this nobody could read it. */
const PROJECTED_BYTES = 134_217_728;
/** As much as `journal/limits.ts` lets one record hold. */
const PAYLOAD_BYTES = 1_048_576;
/** As much as the snapshot keeper writes, and its seal. */
const SNAPSHOT_BYTES = 268_435_456 + 32;
const SEAL_BYTES = 64;

/** Not of what stands there already, which would have to be read for it: the tables may be large. */
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
          when n.nspname in ('completed', 'execution') then ${PROJECTED_BYTES}
          when a.atttypid in ('text[]'::regtype, 'uuid[]'::regtype, 'jsonb'::regtype) then ${LIST_BYTES}
          else ${NAME_BYTES}
        end as most
      from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('identity', 'control', 'risk', 'custody', 'journal', 'completed', 'execution', 'audit')
        and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
        and a.atttypid in ('text'::regtype, 'bytea'::regtype, 'jsonb'::regtype, 'text[]'::regtype, 'uuid[]'::regtype)
    loop
      execute format(
        case when place.kind in ('text', 'bytea')
          then 'alter table %1$s add constraint %2$I check (octet_length(%3$I) <= %4$s) not valid'
          else 'alter table %1$s add constraint %2$I check (octet_length(%3$I::text) <= %4$s) not valid'
        end, place.name, place.col || '_has_room', place.col, place.most);
    end loop;
  end
  $$`;

/**
 * The same as in the schemas that were bounded before: a number that nobody can read stopped projections, and what makes them anew. Moments
 * of events are kept as nanoseconds, and read as such.
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
      where n.nspname in ('custody', 'completed', 'execution', 'audit') and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
        and a.atttypid in ('bigint'::regtype, 'timestamptz'::regtype)
    loop
      execute format('alter table %1$s add constraint %2$I check (' || place.bounds || ') not valid',
        place.name, place.col || '_can_be_read', place.col);
    end loop;
  end
  $$`;

function without(suffix: string, schemas: string): string {
  return `
    do $$
    declare
      bound record;
    begin
      for bound in
        select conrelid::regclass as name, conname from pg_constraint
        where contype = 'c' and conname like '%\\_${suffix}' and connamespace::regnamespace::text in (${schemas})
      loop
        execute format('alter table %s drop constraint %I', bound.name, bound.conname);
      end loop;
    end
    $$`;
}

export class SizesInBounds1790000505000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SIZES);
    await runner.query(NUMBERS);
  }

  async down(runner: QueryRunner): Promise<void> {
    const projected = `'custody', 'completed', 'execution', 'audit'`;
    await runner.query(without('can\\_be\\_read', projected));
    await runner.query(without('has\\_room', `${projected}, 'identity', 'control', 'risk', 'journal'`));
  }
}
