import { expect, it } from '@jest/globals';
import { projectorReadiness } from './follow.js';

const FOLLOWING = { canRead: true, isRenewing: true, hasCaughtUp: true, shards: new Set([1]) };
const MONITORED = { seesPositions: true, seesHeads: true, stands: () => false };
const NOT_STOPPING = new AbortController().signal;

it('is ready when it follows, has caught up, and everything answers', () => {
  expect(projectorReadiness([{ follower: FOLLOWING, lag: MONITORED }], NOT_STOPPING)).toEqual({
    ok: true,
    status: 'ready',
  });
});

it.each([
  ['positions_unreadable', {}, { seesPositions: false }],
  ['positions_unreadable', { canRead: false }, { seesPositions: false, seesHeads: false }],
  ['journal_unreadable', { canRead: false }, {}],
  ['journal_unreadable', {}, { seesHeads: false }],
  ['not_following', { isRenewing: false }, {}],
  ['standing', {}, { stands: (shards: ReadonlySet<number>) => shards.has(1) }],
  ['catching_up', { hasCaughtUp: false }, {}],
])('reports %s: %j %j', (status, follower, lag) => {
  const followed = { follower: { ...FOLLOWING, ...follower }, lag: { ...MONITORED, ...lag } };
  const health = projectorReadiness([{ follower: FOLLOWING, lag: MONITORED }, followed], NOT_STOPPING);
  expect(health).toEqual({ ok: false, status });
});

it('is ready while a shard of another projector makes no progress', () => {
  const lag = { ...MONITORED, stands: (shards: ReadonlySet<number>) => shards.has(0) };
  expect(projectorReadiness([{ follower: FOLLOWING, lag }], NOT_STOPPING).ok).toBe(true);
});

it('reports draining before anything else', () => {
  const health = projectorReadiness(
    [{ follower: FOLLOWING, lag: { ...MONITORED, seesPositions: false } }],
    AbortSignal.abort(),
  );
  expect(health).toEqual({ ok: false, status: 'draining' });
});

it('is not ready before the database has accepted this release', () => {
  expect(projectorReadiness(undefined, NOT_STOPPING)).toEqual({ ok: false, status: 'positions_unreadable' });
});
