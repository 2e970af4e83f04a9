import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { admissionMigrations } from '#libs/admission/migrations/list.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/test-database.js';
import { OwnerRouter } from './owner-router.js';
import { Readiness } from './readiness.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(admissionMigrations);
});

afterAll(() => database.drop());

it('asks the database once for all who want to know at the same time: anybody may, as often as they like', async () => {
  const stopping = new AbortController();
  const readiness = new Readiness(database.pool, new OwnerRouter([]), new SystemClock(), stopping.signal);
  let asked = 0;
  database.pool.on('acquire', () => (asked += 1));
  const answers = await Promise.all(Array.from({ length: 50 }, () => readiness.check()));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['owners_unreachable']));
  expect(asked).toBe(1);
  await readiness.check();
  expect(asked).toBe(2);
});
