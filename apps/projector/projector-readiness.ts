import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import type { Follower } from '#libs/projecting/following/follower.js';
import type { LagMonitor } from '#libs/projecting/following/lag.js';

export interface Followed {
  readonly follower: Pick<Follower, 'canRead' | 'isRenewing' | 'hasCaughtUp' | 'shards'>;
  readonly lag: Pick<LagMonitor, 'seesPositions' | 'seesHeads' | 'stands'>;
}

/** Answers from memory: it must say that something hangs while that hangs. */
export function projectorReadiness(followed: readonly Followed[] | undefined, stopping: AbortSignal): Health {
  if (stopping.aborted) return notReady('draining');
  // Until the database has said that this release may work on it, nothing is followed.
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
