import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { executionMigrations } from '../../migrations/list.js';
import { checkCellCount } from './cell-count.js';
import { SwitchTable } from './switch-table.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(executionMigrations);
});
afterAll(() => database.drop());

it('keeps the number of cells that a database was begun with', async () => {
  await checkCellCount(database.pool, 2);
  await checkCellCount(database.pool, 2);
  await expect(checkCellCount(database.pool, 3)).rejects.toThrow('begun with 2');
});

it('reads what operators have switched, but for what they have switched back', async () => {
  const user = randomUUID();
  await database.pool.query(
    `insert into execution_control.switches (exchange_id, side, user_id, mode, since, resumes_at) values
       ('venue_b', 'buy', null, 'cancel_only', '2026-11-28T12:00:00.5Z', '2026-11-28T13:00:00Z'),
       (null, null, $1, 'halted', '2026-11-28T12:00:01Z', null),
       ('venue_e', null, null, 'on', '2026-11-28T12:00:02Z', null)`,
    [user],
  );
  const switches = [...(await new SwitchTable(database.pool).read())];
  expect(switches.sort((a, b) => (a.since < b.since ? -1 : 1))).toEqual([
    {
      ...{ venue: 'venue_b', side: 'buy', mode: 'cancel_only' },
      ...{ since: '2026-11-28T12:00:00.500000000Z', resumes_at: '2026-11-28T13:00:00.000000000Z' },
    },
    { user_id: user, mode: 'halted', since: '2026-11-28T12:00:01.000000000Z' },
  ]);
});
