import type { Pool, PoolClient } from 'pg';
import { lockNumber } from '../projection.js';

/**
 * Each renewal resets this timeout. A connection that is idle for longer has lost its process unnoticed, and would keep the
 * shards from all others as long as the network lets it.
 */
const IDLE_MILLIS = 10_000;
const TAKE =
  'select shard from unnest($2::integer[]) as wanted (shard) where pg_try_advisory_lock($1, shard)';

/**
 * Which shards of a projection this process follows, so that replicas do not do the same work twice. The rows do not depend on
 * it: a lease ends with its connection, which may break unnoticed.
 */
export class ShardLeases {
  private readonly lockClass: number;
  private client: PoolClient | undefined;
  private held = new Set<number>();

  constructor(
    private readonly pool: Pool,
    projection: string,
    private readonly shards: readonly number[],
    private readonly idleMillis = IDLE_MILLIS,
  ) {
    this.lockClass = lockNumber(`leases of ${projection}`);
  }

  /** Takes free shards and confirms the others. If it rejects, no shard is held. */
  async renew(): Promise<ReadonlySet<number>> {
    try {
      this.client ??= await this.connect();
      const wanted = this.shards.filter((shard) => !this.held.has(shard));
      const { rows } = await this.client.query<{ shard: number }>(TAKE, [this.lockClass, wanted]);
      this.held = new Set([...this.held, ...rows.map(({ shard }) => shard)]);
      return this.held;
    } catch (error) {
      this.release();
      throw error;
    }
  }

  private async connect(): Promise<PoolClient> {
    const client = await this.pool.connect();
    try {
      await client.query(`set idle_session_timeout = ${this.idleMillis}`);
    } catch (error) {
      client.release(true);
      throw error;
    }
    return client;
  }

  release(): void {
    this.held = new Set();
    const { client } = this;
    this.client = undefined;
    // Closing the connection returns the locks, whatever its state.
    client?.release(true);
  }
}
