import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `switches`: restrictions of trading, by scope. A null column matches everything, and the mode `on` lifts a restriction.
 * `operator_actions`: who changed what, when and why. Append-only.
 */
const TABLES = `
  create schema if not exists execution_control;

  create table execution_control.switches (
    exchange_id text,
    side text check (side in ('buy', 'sell')),
    kind text check (kind in ('market', 'limit')),
    time_in_force text check (time_in_force in ('GTC', 'GTD', 'FOK', 'FAK', 'IOC')),
    user_id uuid,
    mode text not null check (mode in ('on', 'reduce_only', 'cancel_only', 'halted')),
    since timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    resumes_at timestamptz,
    unique nulls not distinct (exchange_id, side, kind, time_in_force, user_id)
  );

  create table execution_control.operator_actions (
    action_id bigint generated always as identity primary key,
    operator uuid not null,
    action text not null check (length(action) between 1 and 64),
    input jsonb not null,
    reason text not null check (char_length(reason) <= 1024),
    request_id text not null,
    recorded_at timestamptz not null default clock_timestamp()
  );
  create index on execution_control.operator_actions (recorded_at);
`;

const GUARDS = `
  create function execution_control.refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
  end
  $$;
  create trigger actions_stay before update or delete or truncate on execution_control.operator_actions
  for each statement execute function execution_control.refuse_change();
`;

export class Switches1790000470000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(GUARDS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table execution_control.operator_actions, execution_control.switches;
      drop function execution_control.refuse_change`);
  }
}
