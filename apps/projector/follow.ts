import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { openStoreToRead } from '#libs/journal/stores/open-journal-store.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { SystemClock } from '#libs/platform/time/system-clock.js';
import { Follower } from '#libs/projecting/following/follower.js';
import type { Projection } from '#libs/projecting/projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import type { ProjectorConfig } from './config.js';
import type { ProjectorMetrics } from './projector-metrics.js';
import { watchLag } from './watch-lag.js';
import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import type { LagMonitor } from '#libs/projecting/following/lag.js';

export interface FollowParts {
  readonly config: ProjectorConfig;
  readonly log: Logger;
  readonly scope: ProcessScope;
  readonly clock: SystemClock;
  readonly pool: Pool;
  readonly metrics: ProjectorMetrics;
}

/** The journals of one family, and their shards. */
export interface FollowedFamily {
  readonly family: Projection<unknown>['family'];
  readonly shards: readonly number[];
}

/** Opens the reader of one family, which all its followers share. */
export async function openReader(
  { config, log, scope, clock, pool }: FollowParts,
  { family, shards }: FollowedFamily,
): Promise<JournalReader> {
  const { DATABASE_URL: databaseUrl, INSTANCE: instance } = config;
  const tell = (line: string): void => log.warn(line);
  const store = await openStoreToRead(config, { family, databaseUrl, pool, clock, instance, shards, tell });
  scope.onStop(`${family} journal store`, () => store.close());
  return store.reader;
}

export interface FollowedJournals {
  readonly reader: JournalReader;
  readonly shards: readonly number[];
  /** The name of a shard in the metrics. */
  readonly nameOf: (shard: number) => string;
}

export function follow<Kept>(
  { config, log, scope, clock, pool, metrics }: FollowParts,
  projection: Projection<Kept>,
  { reader, shards, nameOf }: FollowedJournals,
): Followed {
  const lag = watchLag({ config, log, scope, reader, clock, shards, projection });
  metrics.watch(lag, nameOf);
  const inTransaction = transactionsOf(pool);
  const follower = new Follower({
    pool,
    reader,
    projector: new Projector(projection, { inTransaction, clock, meter: metrics.meterOf(nameOf) }),
    clock,
    shards,
    onFault: (what, error) => {
      log.error(
        { err: error, part: `${projection.name}: ${what}` },
        'the projections could not be brought up to date',
      );
    },
  });
  follower.start();
  scope.onStop(`${projection.name} follower`, () => follower.stop());
  return { follower, lag };
}

export interface Followed {
  readonly follower: Pick<Follower, 'canRead' | 'isRenewing' | 'hasCaughtUp' | 'shards'>;
  readonly lag: Pick<LagMonitor, 'seesPositions' | 'seesHeads' | 'stands'>;
}

/** Answers from memory, so that it can report a query that hangs while it hangs. */
export function projectorReadiness(followed: readonly Followed[] | undefined, stopping: AbortSignal): Health {
  if (stopping.aborted) return notReady('draining');
  // Nothing is followed until the database has accepted this release.
  if (followed === undefined) return notReady('positions_unreadable');
  return followed.map(readinessOf).find(({ ok }) => !ok) ?? { ok: true, status: 'ready' };
}

function readinessOf({ follower, lag }: Followed): Health {
  if (!lag.seesPositions) return notReady('positions_unreadable');
  if (!follower.canRead || !lag.seesHeads) return notReady('journal_unreadable');
  if (!follower.isRenewing) return notReady('not_following');
  if (lag.stands(follower.shards)) return notReady('standing');
  return follower.hasCaughtUp ? { ok: true, status: 'ready' } : notReady('catching_up');
}

function notReady(status: string): Health {
  return { ok: false, status };
}
