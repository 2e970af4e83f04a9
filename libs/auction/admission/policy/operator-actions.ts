import type { Pool, PoolClient } from 'pg';
import type { Instant } from '#libs/base/instant.js';
import { requiredInstant, utcText } from '../timestamps.js';
import type { Halt } from './policy-snapshot.js';

export type OperatorActionName =
  'IMPOSE_HALT' | 'LIFT_HALT' | 'DRAIN_SHARD' | 'RESUME_SHARD' | 'VOID_AUCTION';
/** An action of an owner has two entries: ASKED before the owner is asked, then the outcome. */
export type OperatorOutcome = 'ASKED' | 'DONE' | 'REFUSED' | 'UNKNOWN';

export interface OperatorAction {
  /** The same in all entries of one action. */
  readonly action_id: string;
  readonly action: OperatorActionName;
  /** Account of the operator. */
  readonly by: string;
  /** A halt's id, a shard's number, or an auction's id. */
  readonly target: string;
  readonly halt?: Pick<Halt, 'scope' | 'target' | 'what'>;
  readonly reason?: string;
  readonly request_id: string;
}

export interface OperatorEntry extends OperatorAction {
  readonly entry: number;
  readonly display_name: string;
  readonly at: Instant;
  readonly outcome: OperatorOutcome;
  /** The code of the refusal, or of the fault that left the outcome unknown. */
  readonly error?: string;
}

/** An action with a single entry needs no id; the database creates one. */
export type NewAction = Omit<OperatorAction, 'action_id'> & { readonly action_id?: string };

/** Adds one entry. Called within the caller's transaction, so it exists exactly if the action was done. */
export async function enterAction(
  within: Pick<PoolClient, 'query'>,
  action: NewAction,
  outcome: OperatorOutcome,
  error?: string,
): Promise<void> {
  await within.query(
    `insert into control.operator_actions
       (action_id, operator, action, target, halt, reason, request_id, outcome, error)
     values (coalesce($1, gen_random_uuid()), $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      action.action_id ?? null,
      action.by,
      action.action,
      action.target,
      action.halt === undefined ? null : JSON.stringify(action.halt),
      action.reason ?? null,
      action.request_id,
      outcome,
      error ?? null,
    ],
  );
}

interface EntryRow extends Omit<OperatorEntry, 'halt' | 'reason' | 'error'> {
  readonly halt: NonNullable<OperatorAction['halt']> | null;
  readonly reason: string | null;
  readonly error: string | null;
}

const PAGE = `
  select entry, action_id, action, operator as "by", coalesce(display_name, '') as display_name, target, halt,
    reason, request_id, ${utcText('at')} as at, outcome, error
  from control.operator_actions left join control.principals on account_id = operator
  where entry < $1 order by entry desc limit $2`;

/** The append-only log of operators' actions. */
export class OperatorActions {
  constructor(private readonly pool: Pool) {}

  enter(action: OperatorAction, outcome: OperatorOutcome, error?: string): Promise<void> {
    return enterAction(this.pool, action, outcome, error);
  }

  /** Newest first, starting before entry `before`. */
  async page(limit: number, before: number = Number.MAX_SAFE_INTEGER): Promise<readonly OperatorEntry[]> {
    const { rows } = await this.pool.query<EntryRow>(PAGE, [before, limit]);
    return rows.map(({ halt, reason, error, ...row }) => ({
      ...row,
      at: requiredInstant(row.at),
      ...(halt === null ? {} : { halt }),
      ...(reason === null ? {} : { reason }),
      ...(error === null ? {} : { error }),
    }));
  }
}
