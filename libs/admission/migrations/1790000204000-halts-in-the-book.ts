import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * No halt is imposed or lifted that the book of operators does not have, whoever has the login of gateways; the entry comes in the same
 * transaction, behind it. A lifted one stays so. Who owns the tables could take the trigger away, and is not asked.
 */
const BOOKED = `
  create function control.refuse_unbooked() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return null;
    end if;
    if tg_op = 'UPDATE' and old.lifted_at is not null then
      raise exception 'halt % is lifted', new.halt_id using errcode = 'integrity_constraint_violation';
    end if;
    perform from control.operator_actions
      where target = new.halt_id::text and action = case tg_op when 'UPDATE' then 'LIFT_HALT' else 'IMPOSE_HALT' end;
    if not found then
      raise exception 'nothing in the book of operators says so of halt %', new.halt_id using errcode = 'integrity_constraint_violation';
    end if;
    return null;
  end
  $$;
  create constraint trigger halts_are_booked after insert or update on control.halts
    deferrable initially deferred for each row execute function control.refuse_unbooked();
`;

export class HaltsInTheBook1790000204000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(BOOKED);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'drop trigger halts_are_booked on control.halts; drop function control.refuse_unbooked()',
    );
  }
}
