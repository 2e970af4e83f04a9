import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was written once stands: not even a mistake is taken out, it is followed by what corrected it. */
const BOOK = `
  create table control.operator_actions (
    entry bigint generated always as identity primary key,
    action_id uuid not null,
    operator text not null,
    action text not null
      check (action in ('IMPOSE_HALT', 'LIFT_HALT', 'DRAIN_SHARD', 'RESUME_SHARD', 'VOID_AUCTION')),
    target text not null,
    halt jsonb check ((halt is not null) = (action in ('IMPOSE_HALT', 'LIFT_HALT'))),
    reason text,
    request_id text not null,
    at timestamptz not null default clock_timestamp(),
    outcome text not null check (outcome in ('ASKED', 'DONE', 'REFUSED', 'UNKNOWN')),
    error text check ((error is null) = (outcome in ('ASKED', 'DONE')))
  );
  create unique index operator_actions_asked on control.operator_actions (action_id) where outcome = 'ASKED';
  create unique index operator_actions_ended on control.operator_actions (action_id) where outcome <> 'ASKED';

  create function control.refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
  end
  $$;
  create trigger operator_actions_stay before update or delete or truncate on control.operator_actions
  for each statement execute function control.refuse_change();
`;

export class OperatorActions1790000202000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(BOOK);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table control.operator_actions; drop function control.refuse_change()');
  }
}
