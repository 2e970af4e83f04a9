import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A switch can be set only with a matching row in `operator_actions` of the same transaction (checked by `xmin`).
 * This holds for the gateways' login. The table role is exempt, since it could drop the triggers anyway.
 */
const BOOKED = `
  create function execution_control.refuse_unbooked() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return null;
    end if;
    perform from execution_control.operator_actions
      where recorded_at >= transaction_timestamp() and xmin = pg_current_xact_id()::xid and action = 'switches.set'
        and input ->> 'mode' = new.mode
        and input ->> 'exchangeId' is not distinct from new.exchange_id
        and input ->> 'side' is not distinct from new.side
        and input ->> 'kind' is not distinct from new.kind
        and input ->> 'timeInForce' is not distinct from new.time_in_force
        and (input ->> 'userId')::uuid is not distinct from new.user_id
        and (input ->> 'resumesAt')::timestamptz is not distinct from new.resumes_at;
    if not found then
      raise exception 'nothing in the book of operators says so of this switch' using errcode = 'integrity_constraint_violation';
    end if;
    return null;
  end
  $$;
  create constraint trigger switches_are_booked after insert or update on execution_control.switches
    deferrable initially deferred for each row execute function execution_control.refuse_unbooked();

  create function execution_control.give_since() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    new.since := date_trunc('milliseconds', clock_timestamp());
    return new;
  end
  $$;
  create trigger give_since before insert or update on execution_control.switches
    for each row execute function execution_control.give_since();
`;

export class BookedSwitches1790000490000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(BOOKED);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger switches_are_booked on execution_control.switches;
      drop trigger give_since on execution_control.switches;
      drop function execution_control.refuse_unbooked();
      drop function execution_control.give_since()`);
  }
}
