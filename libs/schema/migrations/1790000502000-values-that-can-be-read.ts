import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A number beyond those that JavaScript holds exactly, or a moment that is none, fails whoever reads it, on purpose; where all rows are
 * read together one of them stops everybody. So no row has any. Of the journals' records the chain is asked instead.
 */
const READABLE = `
  do $$
  declare
    place record;
  begin
    for place in
      select a.attrelid::regclass as name, a.attname as col, a.atttypid = 'bigint'::regtype as is_number
      from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('control', 'identity', 'risk', 'journal') and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
        and a.atttypid in ('bigint'::regtype, 'timestamptz'::regtype) and c.oid <> 'journal.records'::regclass
    loop
      execute format(
        case when place.is_number
          then 'alter table %1$s add constraint %2$I check (%3$I between -9007199254740991 and 9007199254740991)'
          else 'alter table %1$s add constraint %2$I check (%3$I >= ''1970-01-01 00:00:00+00'' and %3$I < ''9999-12-31 00:00:00+00'')'
        end, place.name, place.col || '_can_be_read', place.col);
    end loop;
  end
  $$`;

const UNREADABLE = `
  do $$
  declare
    bound record;
  begin
    for bound in
      select conrelid::regclass as name, conname from pg_constraint
      where contype = 'c' and conname like '%\\_can\\_be\\_read' and connamespace::regnamespace::text in ('control', 'identity', 'risk', 'journal')
    loop
      execute format('alter table %s drop constraint %I', bound.name, bound.conname);
    end loop;
  end
  $$`;

export class ValuesThatCanBeRead1790000502000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(READABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(UNREADABLE);
  }
}
