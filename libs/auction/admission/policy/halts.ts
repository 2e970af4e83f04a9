import type { Pool, PoolClient } from 'pg';
import type { Instant } from '#libs/base/instant.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { enterAction, type OperatorActionName } from './operator-actions.js';
import type { Halt, HaltScope } from './policy-snapshot.js';
import { requiredInstant, utcText } from '../timestamps.js';

/** `version` is the policy version from which the halt is in force, or no longer is. */
export type ImposeResult =
  | { readonly ok: true; readonly halt: Halt; readonly repeated: boolean; readonly version: number }
  | { readonly ok: false; readonly fault: 'TARGET_UNKNOWN' };

export interface Lifting {
  readonly by: string;
  readonly request_id: string;
  readonly at: Instant;
}

export interface ListedHalt extends Halt {
  /** The name of the operator who imposed it. Empty if that account is not registered. */
  readonly display_name: string;
}

const TARGETS: Readonly<Record<Exclude<HaltScope, 'GLOBAL'>, string>> = {
  VENUE: 'select from control.contracts where venue = $1 limit 1',
  MARKET: 'select from control.contracts where contract_id = $1 limit 1',
  PRINCIPAL: 'select from control.principals where account_id = $1',
};

/**
 * Halts in force; lifted halts stay in the table as history. A halt and its entry in the operators' log are one
 * transaction. For a gateway with its own role the database sets the times.
 */
export class Halts {
  constructor(private readonly pool: Pool) {}

  async list(): Promise<readonly ListedHalt[]> {
    const { rows } = await this.pool.query<HaltRow & Pick<ListedHalt, 'display_name'>>(
      `select ${HALT_COLUMNS}, coalesce(display_name, '') as display_name
       from control.halts left join control.principals on account_id = created_by
       where lifted_at is null order by created_at, halt_id`,
    );
    return rows.map((row) => ({ ...haltOfRow(row), display_name: row.display_name }));
  }

  /** A halt that repeats one in force, by the same operator in the same words, is not imposed again. */
  impose(halt: Halt, requestId: string): Promise<ImposeResult> {
    return this.change(async (client): Promise<ImposeResult> => {
      const inForce = await sameInForce(client, halt);
      if (inForce !== undefined) {
        return { ok: true, halt: inForce, repeated: true, version: await versionIn(client) };
      }
      if (!(await exists(client, halt))) return { ok: false, fault: 'TARGET_UNKNOWN' };
      const { rows } = await client.query<HaltRow>(
        `insert into control.halts (halt_id, scope, target, what, reason, created_by, created_at)
         values ($1, $2, $3, $4, $5, $6, $7) returning ${HALT_COLUMNS}`,
        [halt.halt_id, halt.scope, halt.target ?? null, halt.what, halt.reason, halt.by, halt.created_at],
      );
      const imposed = rows.map(haltOfRow)[0] ?? halt;
      await enter(client, 'IMPOSE_HALT', imposed, { by: halt.by, request_id: requestId });
      return { ok: true, halt: imposed, repeated: false, version: await versionIn(client) };
    });
  }

  /** Returns the policy version after the change. Undefined if no such halt is in force. */
  lift(haltId: string, { by, request_id, at }: Lifting): Promise<number | undefined> {
    return this.change(async (client) => {
      const { rows } = await client.query<HaltRow>(
        `update control.halts set lifted_by = $2, lifted_at = $3
         where halt_id = $1 and lifted_at is null returning ${HALT_COLUMNS}`,
        [haltId, by, at],
      );
      const [lifted] = rows.map(haltOfRow);
      if (lifted === undefined) return undefined;
      await enter(client, 'LIFT_HALT', lifted, { by, request_id });
      return versionIn(client);
    });
  }

  /** Serializes changes, so that a repeat sees what the first call did. */
  private change<T>(make: (client: PoolClient) => Promise<T>): Promise<T> {
    return withTransaction(this.pool, 'read committed', async (client) => {
      await client.query("select pg_advisory_xact_lock(hashtextextended('halts', 24))");
      return make(client);
    });
  }
}

async function sameInForce(client: PoolClient, halt: Halt): Promise<Halt | undefined> {
  const { rows } = await client.query<HaltRow>(
    `select ${HALT_COLUMNS} from control.halts
     where lifted_at is null and scope = $1 and target is not distinct from $2 and what @> $3 and what <@ $3
       and reason = $4 and created_by = $5 order by created_at limit 1`,
    [halt.scope, halt.target ?? null, halt.what, halt.reason, halt.by],
  );
  return rows.map(haltOfRow)[0];
}

/** Refuses unknown targets: their halt would stop nothing, and no operator would notice. */
async function exists(client: PoolClient, { scope, target }: Halt): Promise<boolean> {
  if (scope === 'GLOBAL') return target === undefined;
  return (await client.query(TARGETS[scope], [target])).rowCount === 1;
}

function enter(
  client: PoolClient,
  action: OperatorActionName,
  { halt_id, scope, target, what, reason }: Halt,
  { by, request_id }: Pick<Lifting, 'by' | 'request_id'>,
): Promise<void> {
  const halt = target === undefined ? { scope, what } : { scope, target, what };
  const why = action === 'IMPOSE_HALT' ? { reason } : {};
  return enterAction(client, { action, by, target: halt_id, halt, ...why, request_id }, 'DONE');
}

/** This transaction has raised the version and holds its row lock until the commit. */
async function versionIn(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ version: number }>('select version from control.version');
  return rows[0]?.version ?? 0;
}

export type HaltRow = Omit<Halt, 'target'> & { readonly target: string | null };

export const HALT_COLUMNS = `halt_id, scope, target, what, reason, created_by as "by",
  ${utcText('created_at')} as created_at`;

export function haltOfRow({ target, ...row }: HaltRow): Halt {
  return { ...row, created_at: requiredInstant(row.created_at), ...(target === null ? {} : { target }) };
}
