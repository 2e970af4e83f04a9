import type { Pool, PoolClient } from 'pg';

/** Any constant will do as long as it never changes: it keeps these locks apart from all others. */
const LOCK_CLASS = 1_749_203_316;
/**
 * Leases are renewed every moment. A connection on which that has not happened for so long has lost its process without being
 * told, and would keep the shards from everybody else for as long as the network lets it.
 */
const IDLE_MILLIS = 10_000;
const TAKE =
  'select shard from unnest($2::integer[]) as wanted (shard) where pg_try_advisory_lock($1, shard)';

/**
 * Which shards this process is to work on, so that replicas do not do the same work twice. That rows stay right does not
 * rest on it: a lease goes with its connection, which may break without its holder knowing.
 */
export class Leases {
  private client: PoolClient | undefined;
  private held = new Set<number>();

  constructor(
    private readonly pool: Pool,
    private readonly shards: readonly number[],
    private readonly idleMillis = IDLE_MILLIS,
  ) {}

  /** Takes what is free and makes sure of the rest. When it rejects nothing is held. */
  async renew(): Promise<ReadonlySet<number>> {
    try {
      this.client ??= await this.connect();
      const wanted = this.shards.filter((shard) => !this.held.has(shard));
      const { rows } = await this.client.query<{ shard: number }>(TAKE, [LOCK_CLASS, wanted]);
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
    // Closing the connection is what gives the locks back, whatever state it is in.
    client?.release(true);
  }
}
