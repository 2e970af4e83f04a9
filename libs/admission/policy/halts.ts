import type { Pool } from 'pg';
import type { Instant } from '#libs/auction/instant.js';
import { HALT_COLUMNS, haltOfRow, type HaltRow } from './halt-rows.js';
import type { Halt } from './policy-snapshot.js';

/** Halts that stand; those that were lifted stay in the table as history. */
export class Halts {
  constructor(private readonly pool: Pool) {}

  async list(): Promise<readonly Halt[]> {
    const { rows } = await this.pool.query<HaltRow>(
      `select ${HALT_COLUMNS} from control.halts where lifted_at is null order by created_at, halt_id`,
    );
    return rows.map(haltOfRow);
  }

  async impose(halt: Halt): Promise<void> {
    await this.pool.query(
      `insert into control.halts (halt_id, scope, target, what, reason, created_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [halt.halt_id, halt.scope, halt.target ?? null, halt.what, halt.reason, halt.by, halt.created_at],
    );
  }

  /** False when no such halt stands. */
  async lift(haltId: string, by: string, at: Instant): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      'update control.halts set lifted_by = $2, lifted_at = $3 where halt_id = $1 and lifted_at is null',
      [haltId, by, at],
    );
    return rowCount === 1;
  }
}
