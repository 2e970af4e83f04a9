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

async function questionsOf(work: () => Promise<unknown>): Promise<number> {
  let asked = 0;
  const count = (): void => void (asked += 1);
  database.pool.on('acquire', count);
  try {
    await work();
  } finally {
    database.pool.off('acquire', count);
  }
  return asked;
}

it('asks once for all concurrent callers', async () => {
  const beating = pulse();
  const all = () => Promise.all(Array.from({ length: 50 }, () => beating.answers()));
  expect(
    await questionsOf(async () => {
      expect(new Set(await all())).toEqual(new Set([true]));
    }),
  ).toBe(1);
  expect(await questionsOf(all)).toBe(1);
});

it('returns false within a second without a reply, and sends only one query', async () => {
  const hanging = pulse('select pg_sleep(3)');
  const asked = await questionsOf(async () => {
    expect(await hanging.answers()).toBe(false);
    expect(await hanging.answers()).toBe(false);
  });
  expect(asked).toBe(1);
});

it('returns false if the query is refused', async () => {
  expect(await pulse('select version from control.nothing').answers()).toBe(false);
});
