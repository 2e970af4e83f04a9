import type { Pool, PoolClient } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { Projection } from '#libs/auction/projections/projection.js';
import { Projector } from '../projector.js';
import { LIVE, type Schemas } from '../schemas.js';
import { PositionsTable } from '../positions.js';
import { createPassingTables } from './copies.js';
import { compareTables, type TableComparison } from './differences.js';
import { replay } from './replay.js';

export interface ComparePorts {
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly clock: Clock;
}

/** Nobody else sees them or waits for them, and they go with the session, whatever becomes of it. */
const COPIES: Schemas = { completed: 'pg_temp', auction_history: 'pg_temp' };

/**
 * Makes the projections again from the journal, up to where they are, and compares. All of it sees one moment of the
 * database, whatever projectors do meanwhile, and is rolled back at the end: it leaves nothing behind.
 */
export async function compareProjections(
  { pool, reader, clock }: ComparePorts,
  shard?: number,
): Promise<TableComparison[]> {
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read');
    const positions = await new PositionsTable(LIVE).all(client);
    await createPassingTables(client, COPIES);
    const projector = projectorWithin(client, clock);
    for (const [each, to] of positions) {
      if (shard === undefined || each === shard) await replay(projector, reader, each, { from: 0, to });
    }
    const scope = { nowNanos: clock.epochNanos(), ...(shard !== undefined && { shard }) };
    return await compareTables(client, COPIES, scope);
  } finally {
    await client.query('rollback').catch(() => undefined);
    client.release();
  }
}

function projectorWithin(client: PoolClient, clock: Clock): Projector {
  return new Projector((work) => work(client), new Projection(COPIES), clock, { applied: () => undefined });
}
