import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { executionMigrations } from '../../migrations/list.js';
import { OperatorBook } from './operator-book.js';
import { SwitchBook } from './switch-book.js';

let database: TestDatabase;
const operator = randomUUID();
const action = { operator, action: 'switches.set', input: {}, reason: 'a drill', request_id: 'r' };

beforeAll(async () => {
  database = await createTestDatabase(executionMigrations);
});
afterAll(() => database.drop());

it('has one switch for each scope, and records every action', async () => {
  const switches = new SwitchBook(database.pool, new SystemClock());
  const book = new OperatorBook(database.pool);
  const set = (mode: 'halted' | 'on'): Promise<unknown> =>
    book.act(action, (client) => switches.set(client, { exchangeId: 'venue_b' }, mode, undefined));
  expect(await set('halted')).toMatchObject({ exchangeId: 'venue_b', mode: 'halted' });
  expect(await switches.isHalted('venue_b')).toBe(true);
  expect(await switches.isHalted('venue_e')).toBe(false);
  await set('halted');
  expect(await switches.list()).toHaveLength(1);
  await set('on');
  expect(await switches.list()).toEqual([]);
  expect(await switches.isHalted('venue_b')).toBe(false);
  const { rows } = await database.pool.query('select reason from execution_control.operator_actions');
  expect(rows).toHaveLength(3);
});

it('leaves neither the change nor the action if one of them fails', async () => {
  const book = new OperatorBook(database.pool);
  const failing = { ...action, request_id: 'fails' };
  await expect(book.act(failing, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const { rows } = await database.pool.query(
    `select from execution_control.operator_actions where request_id = 'fails'`,
  );
  expect(rows).toEqual([]);
});
