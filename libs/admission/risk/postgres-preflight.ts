import type { Pool } from 'pg';
import { instantFromNanos } from '#libs/auction/instant.js';
import type { Need } from '#libs/auction/holds.js';
import type { Rejection } from '#libs/auction/rejection.js';
import type { Hold } from '#libs/auction/terms.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import type { PreflightDesk } from '../preflight-desk.js';
import { capacityOf } from './capacity.js';
import { keyColumns, READ_STANDING, Standing, type StandingRow } from './reserved-rows.js';
import { accountKey, resourcesOf } from './resource-key.js';
import { verdictOf, type Verdict } from './verdict.js';

/** Asks the calculation of the reservation within a read-only transaction. */
export class PostgresPreflight implements PreflightDesk {
  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
  ) {}

  async preflight(account: string, need: Need, current: readonly Hold[]): Promise<Verdict | Rejection> {
    const keys = resourcesOf(need).map((resource) => accountKey(account, resource));
    const rows = await withTransaction(this.pool, 'repeatable read, read only', (client) =>
      client.query<StandingRow & unknown[]>({
        name: 'preflight-standing',
        text: READ_STANDING,
        values: keyColumns(keys),
        rowMode: 'array',
      }),
    );
    const evidenceOf = new Standing(keys, rows.rows).evidenceFor(account, (_key, byShard) =>
      byShard.reduce((sum, amount) => sum + amount, 0),
    );
    const now = instantFromNanos(this.clock.epochNanos());
    const capacity = capacityOf(need, { evidenceOf, current, now });
    return capacity.ok ? verdictOf(need, capacity, now) : capacity;
  }
}
