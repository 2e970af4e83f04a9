import { KafkaJournalReader } from '#libs/journal/kafka/kafka-reader.js';
import { Follower } from '#libs/projecting/following/follower.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { poolOf } from '../storage/sql-pool.js';
import type { Life } from './unit.js';
import { SHARDS, topicOf } from './world.js';

/** A projector's process. */
export function bootProjector({ host, clock, world }: Life): Promise<void> {
  const pool = poolOf(world.database, host);
  new Follower({
    pool,
    reader: new KafkaJournalReader({
      family: 'auction',
      openLog: (shard) => topicOf(world, shard).open(host),
      shards: SHARDS,
    }),
    projector: new Projector(auctionProjection, { inTransaction: transactionsOf(pool), clock }),
    clock,
    shards: SHARDS,
    onFault: (what, error) => world.onFault(host.name, what, error),
  }).start();
  return Promise.resolve();
}
