import type { JournalReader } from '#libs/journal/journal.js';
import { auctionProjection } from '../../projections/projection.js';
import { projectionLag } from '#libs/projecting/following/lag.js';
import type { Pool } from 'pg';

/** What the database knows of a shard without its owner. */
export interface KnownOfShard {
  readonly epoch: number;
  readonly journal_head: number;
  readonly projection_lag_events: number;
}

export class JournalBook {
  constructor(
    private readonly pool: Pool,
    private readonly reader: JournalReader,
  ) {}

  /**
   * Undefined for a shard that was never opened. Each epoch begins with a record, so the last record has the
   * present epoch.
   */
  async known(shard: number): Promise<KnownOfShard | undefined> {
    const rows = await projectionLag({
      pool: this.pool,
      reader: this.reader,
      projection: auctionProjection,
    });
    const found = rows.find((row) => row.shard === shard);
    if (found === undefined) return undefined;
    const [last] = await this.reader.read(shard, found.head, 1);
    if (last === undefined) return undefined;
    return { epoch: last.epoch, journal_head: found.head, projection_lag_events: found.lag };
  }
}
