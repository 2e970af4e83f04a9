import type { ClientBase } from 'pg';
import { PROVIDERS, type Provider } from '../rules/providers.js';

type Client = Pick<ClientBase, 'query'>;

/** How long a snapshot can be read, in microseconds. */
export const SNAPSHOT_LASTS = 600_000_000;
/** Rows stay a little longer, so that none is deleted while it is read. */
const KEPT = SNAPSHOT_LASTS + 60_000_000;
const STILL_THERE = '9007199254740991';

/**
 * Writes only what came, went or changed since the last snapshot. Old rows must end before new ones begin, because a market has at
 * most one row without an end.
 */
const RENEW = `
  with made as (
    insert into data.snapshots (provider, made_at) values ($1, $2) returning snapshot_no
  ),
  listed as (
    select market_no, market_id, state from data.markets where provider = $1 and status in ('open', 'active')
  ),
  known as (
    select market_id, state from data.snapshot_markets where provider = $1 and to_snapshot = ${STILL_THERE}
  ),
  changed as (
    select market_id, listed.market_no, listed.state, known.market_id is not null as was_there
    from listed full join known using (market_id) where listed.state is distinct from known.state
  ),
  ended as (
    update data.snapshot_markets ending set to_snapshot = made.snapshot_no from changed, made
    where ending.provider = $1 and ending.market_id = changed.market_id and ending.to_snapshot = ${STILL_THERE} and changed.was_there
    returning ending.market_id
  )
  insert into data.snapshot_markets (provider, market_id, from_snapshot, market_no, state)
  select $1, market_id, made.snapshot_no, market_no, state from changed, made
  where market_no is not null and (select count(*) from ended) >= 0`;

/** Stores snapshots of the open markets. */
export class SnapshotTable {
  /** Call it in a transaction. A lock makes concurrent processes take turns. */
  async renew(client: Client, provider: Provider, madeAt: number): Promise<void> {
    const shard = PROVIDERS.indexOf(provider);
    await client.query('select pg_advisory_xact_lock($1, $2)', [SNAPSHOTS_LOCK, shard]);
    await client.query({ name: 'data-renew-snapshot', text: RENEW, values: [shard, madeAt] });
    await client.query('delete from data.snapshots where provider = $1 and made_at < $2', [
      shard,
      madeAt - KEPT,
    ]);
    await client.query(
      `delete from data.snapshot_markets where provider = $1
         and to_snapshot < ${STILL_THERE} and to_snapshot <= (select min(snapshot_no) from data.snapshots where provider = $1)`,
      [shard],
    );
  }
}

/** The lock's first key, used for nothing else. The second is the provider. */
const SNAPSHOTS_LOCK = 1_790_000_630;
