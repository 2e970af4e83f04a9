import type { MigrationInterface, QueryRunner } from 'typeorm';

const refuseUnbooked = (also: string): string => `
  create or replace function control.refuse_unbooked() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return null;
    end if;
    if tg_op = 'UPDATE' and old.lifted_at is not null then
      raise exception 'halt % is lifted', new.halt_id using errcode = 'integrity_constraint_violation';
    end if;
    perform from control.operator_actions
      where target = new.halt_id::text and action = case tg_op when 'UPDATE' then 'LIFT_HALT' else 'IMPOSE_HALT' end ${also};
    if not found then
      raise exception 'nothing in the book of operators says so of halt %', new.halt_id using errcode = 'integrity_constraint_violation';
    end if;
    return null;
  end
  $$;
`;

/**
 * An entry of earlier, or of somebody else, says nothing of this change: it has to come in the same transaction and be of the same
 * operator, so that whoever looks at the end of the book sees it. `xmin` is the transaction that wrote the row.
 */
const SAID_NOW = `
        and operator = case tg_op when 'UPDATE' then new.lifted_by else new.created_by end
        and outcome = 'DONE' and xmin = pg_current_xact_id()::xid`;

/** Gateways write these, so the values are put right instead of refused. Who owns the tables is not asked. */
const TIMES = `
  create function control.give_times() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return new;
    end if;
    if tg_op = 'UPDATE' then
      new.lifted_at := clock_timestamp();
    else
      new.created_at := clock_timestamp();
    end if;
    return new;
  end
  $$;
  create trigger give_times before insert or update on control.halts
    for each row execute function control.give_times();
`;

export class HaltsByTheirEntry1790000205000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(refuseUnbooked(SAID_NOW));
    await runner.query(TIMES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop trigger give_times on control.halts; drop function control.give_times()');
    await runner.query(refuseUnbooked(''));
  }
}
