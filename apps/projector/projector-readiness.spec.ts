import { expect, it } from '@jest/globals';
import { projectorReadiness } from './follow.js';

const WELL = { canRead: true, isRenewing: true, hasCaughtUp: true, shards: new Set([1]) };
const SEEN = { seesPositions: true, seesHeads: true, stands: () => false };
const NOBODY = new AbortController().signal;

it('is ready when it follows, has caught up, and everything answers', () => {
  expect(projectorReadiness([{ follower: WELL, lag: SEEN }], NOBODY)).toEqual({ ok: true, status: 'ready' });
});

it.each([
  ['positions_unreadable', {}, { seesPositions: false }],
  ['positions_unreadable', { canRead: false }, { seesPositions: false, seesHeads: false }],
  ['journal_unreadable', { canRead: false }, {}],
  ['journal_unreadable', {}, { seesHeads: false }],
  ['not_following', { isRenewing: false }, {}],
  ['standing', {}, { stands: (shards: ReadonlySet<number>) => shards.has(1) }],
  ['catching_up', { hasCaughtUp: false }, {}],
])('is not ready, but %s: %j %j', (status, follower, lag) => {
  const followed = { follower: { ...WELL, ...follower }, lag: { ...SEEN, ...lag } };
  const health = projectorReadiness([{ follower: WELL, lag: SEEN }, followed], NOBODY);
  expect(health).toEqual({ ok: false, status });
});

it('is ready while a shard stands that another works on', () => {
  const lag = { ...SEEN, stands: (shards: ReadonlySet<number>) => shards.has(0) };
  expect(projectorReadiness([{ follower: WELL, lag }], NOBODY).ok).toBe(true);
});

it('says first that it is about to stop', () => {
  const health = projectorReadiness(
    [{ follower: WELL, lag: { ...SEEN, seesPositions: false } }],
    AbortSignal.abort(),
  );
  expect(health).toEqual({ ok: false, status: 'draining' });
});

it('is not ready before the database has said that it may begin', () => {
  expect(projectorReadiness(undefined, NOBODY)).toEqual({ ok: false, status: 'positions_unreadable' });
});
