import { afterEach, expect, it } from '@jest/globals';
import { MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { tally } from '#libs/testing/projections/tally.js';
import { Projector, transactionsOf } from '../projector.js';
import { Follower } from './follower.js';

/** No server listens there. */
const NOWHERE = 'postgres://nouser@127.0.0.1:1/none';

const clock = new MovableClock();
const pool = openPool(NOWHERE, { applicationName: 'follower', max: 1 });

afterEach(async () => {
  clock.forgetTimers();
  await pool.end();
});

it('a follower that cannot find out for long which shards are its own reports that, but not at the first fault', async () => {
  const faults: unknown[] = [];
  const follower = new Follower({
    pool,
    reader: new MemoryJournalStore(),
    projector: new Projector(tally, { inTransaction: transactionsOf(pool), clock }),
    clock,
    shards: [0, 1, 2],
    onFault: (_what, error) => faults.push(error),
  });
  follower.start();
  await eventually(() => expect(faults).toHaveLength(1));
  expect(follower.isRenewing).toBe(true);
  clock.leap(20_000);
  expect(follower.isRenewing).toBe(false);
  await follower.stop();
});
