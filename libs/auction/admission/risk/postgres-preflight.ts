import type { Pool } from 'pg';
import { instantFromNanos } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { Rejection } from '#libs/base/rejection.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { judgeFreeze, readFreezes } from '../freezes.js';
import type { PreflightDesk, ReserveRequest } from '../reservation-desk.js';
import { capacityOf } from './capacity.js';
import { keyColumns, READ_STANDING, ReservedState, type StandingRow } from './reserved-rows.js';
import { accountKey, resourcesOf } from './resource-key.js';
import { type PreflightVerdict, verdictOf } from './verdict.js';

/** Makes the calculation of a reservation in a read-only transaction. */
export class PostgresPreflight implements PreflightDesk {
  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
  ) {}

  async preflight(
    { account, need, current, forQuote }: ReserveRequest,
    step: Atoms,
  ): Promise<PreflightVerdict | Rejection> {
    const keys = resourcesOf(need).map((resource) => accountKey(account, resource));
    const quoting = forQuote === true ? [account] : [];
    const standing = await withTransaction(this.pool, 'repeatable read, read only', async (client) => {
      const { rows } = await client.query<StandingRow & unknown[]>({
        name: 'preflight-standing',
        text: READ_STANDING,
        values: keyColumns(keys),
        rowMode: 'array',
      });
      return new ReservedState(keys, rows, await readFreezes(client, quoting));
    });
    const evidenceOf = standing.evidenceFor(account, (_key, byShard) =>
      byShard.reduce((sum, amount) => sum + amount, 0),
    );
    const now = instantFromNanos(this.clock.epochNanos());
    const frozen = judgeFreeze(standing.freezes, account, now);
    if (frozen !== undefined) return frozen;
    const capacity = capacityOf(need, { evidenceOf, current, now });
    return capacity.ok ? verdictOf(need, capacity, { now, step }) : capacity;
  }
}
