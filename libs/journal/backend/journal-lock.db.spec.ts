import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { journalMigrations } from '../migrations/list.js';
import { JournalLock } from './journal-lock.js';

const HOLDERS = `
  select count(*)::integer as count from pg_locks
  where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database()) and granted`;

/** A clock that counts its pending timers. */
class CountedClock implements Clock {
  waiting = 0;
  private readonly clock = new SystemClock();

  epochNanos(): bigint {
    return this.clock.epochNanos();
  }

  monotonicNanos(): bigint {
    return this.clock.monotonicNanos();
  }

  after(millis: number, action: () => void): Cancel {
    this.waiting += 1;
    const cancel = this.clock.after(millis, action);
    return () => {
      this.waiting -= 1;
      cancel();
    };
  }
}

describe('the lock of journal writers', () => {
  let database: TestDatabase;
  let clock: CountedClock;
  let lock: JournalLock;

  beforeAll(async () => {
    database = await createTestDatabase(journalMigrations);
  });
  beforeEach(() => {
    clock = new CountedClock();
    lock = new JournalLock(database.url, clock);
  });
  afterEach(async () => {
    await lock.letGo();
    await eventually(async () => expect(await holders()).toBe(0));
  });
  afterAll(() => database.drop());

  const holders = async (): Promise<number> =>
    (await database.pool.query<{ count: number }>(HOLDERS)).rows[0]?.count ?? 0;

  it('is held once by all writers that begin at the same moment, and free once they release it', async () => {
    await Promise.all([lock.share(), lock.share(), lock.share()]);
    await lock.share();
    expect([await holders(), clock.waiting]).toEqual([1, 1]);
    await lock.letGo();
    expect(clock.waiting).toBe(0);
    await eventually(async () => expect(await holders()).toBe(0));
  });

  it('is not held by a writer that releases it while taking it', async () => {
    const shares = Promise.allSettled([lock.share(), lock.share()]);
    await lock.letGo();
    expect(await shares).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(clock.waiting).toBe(0);
    await eventually(async () => expect(await holders()).toBe(0));
  });

  it('is confirmed by a server that still has it, and taken again after its session has ended', async () => {
    const mover = new JournalLock(database.url, clock);
    await lock.share();
    await lock.confirmShared();
    const end = `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'sotto-journal-lock' and datname = current_database()`;
    await database.pool.query(end);
    await eventually(() => mover.takeAlone());
    await eventually(() => expect(lock.confirmShared()).rejects.toThrow('are being moved at present'));
    await mover.letGo();
    await eventually(() => lock.confirmShared());
    expect(await holders()).toBe(1);
  });

  it('is taken by later writers after one was refused', async () => {
    const mover = new JournalLock(database.url, clock);
    await mover.takeAlone();
    await expect(lock.share()).rejects.toThrow('the journals are being moved at present');
    await mover.letGo();
    await lock.share();
    expect(await holders()).toBe(1);
  });
});
