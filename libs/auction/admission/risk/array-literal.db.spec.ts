import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { integerArray, textArray } from './reserved-rows.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it.each([
  [[]],
  [['plain', '', 'null', 'NULL', ' spaced ', '{curly}', 'comma,']],
  [['quo"te', 'back\\slash', '\\"', '","', 'naïve ☂', 'line\nbreak', "it's"]],
])('is read back unchanged: %j', async (values) => {
  const { rows } = await database.pool.query('select $1::text[] as read', [textArray(values)]);
  expect(rows).toEqual([{ read: values }]);
});

it('keeps every digit of an integer', async () => {
  const values = [0, -1, Number.MAX_SAFE_INTEGER];
  const { rows } = await database.pool.query('select unnest($1::bigint[]) as read', [integerArray(values)]);
  expect(rows.map((row: { read: number }) => row.read)).toEqual(values);
});
