import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { DatabasePulse } from './database-pulse.js';
import { SystemClock } from '../time/system-clock.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([]);
});

afterAll(() => database.drop());

function pulse(question?: string): DatabasePulse {
  return new DatabasePulse(database.pool, new SystemClock(), question);
}

async function countQueries(work: () => Promise<unknown>): Promise<number> {
  let queries = 0;
  const count = (): void => void (queries += 1);
  database.pool.on('acquire', count);
  try {
    await work();
  } finally {
    database.pool.off('acquire', count);
  }
  return queries;
}

it('sends one query for all concurrent callers', async () => {
  const pulseUnderTest = pulse();
  const all = () => Promise.all(Array.from({ length: 50 }, () => pulseUnderTest.answers()));
  expect(
    await countQueries(async () => {
      expect(new Set(await all())).toEqual(new Set([true]));
    }),
  ).toBe(1);
  expect(await countQueries(all)).toBe(1);
});

it('returns false after a second without a reply, and sends no second query', async () => {
  const hanging = pulse('select pg_sleep(3)');
  const queries = await countQueries(async () => {
    expect(await hanging.answers()).toBe(false);
    expect(await hanging.answers()).toBe(false);
  });
  expect(queries).toBe(1);
});

it('returns false if the query is refused', async () => {
  expect(await pulse('select version from control.nothing').answers()).toBe(false);
});
