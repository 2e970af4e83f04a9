import type { ClientBase } from 'pg';
import { PROVIDERS, type Provider } from '../rules/providers.js';

type Client = Pick<ClientBase, 'query'>;

/** How long a snapshot can be read from, in microseconds. */
export const SNAPSHOT_LASTS = 600_000_000;
/** Its rows stay a little longer, so that none goes while it is read. */
const KEPT = SNAPSHOT_LASTS + 60_000_000;
const STILL_THERE = '9007199254740991';

/**
 * What is in the newest snapshot already stays as it is; only what came, went or changed is written. Rows end before others begin, since
 * a market has one row without an end at most.
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

/** Snapshots of the open markets. */
export class SnapshotTable {
  /** Within a transaction; of two processes one waits for the other. */
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

/** Any number that nobody else uses, beside that of a provider. */
const SNAPSHOTS_LOCK = 1_790_000_630;
