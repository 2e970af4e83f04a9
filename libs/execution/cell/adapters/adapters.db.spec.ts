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

it('another number of cells than at the first start is refused', async () => {
  await checkCellCount(database.pool, 2);
  await checkCellCount(database.pool, 2);
  await expect(checkCellCount(database.pool, 3)).rejects.toThrow('created with 2');
});

it('reads all switches of operators except those with the mode on', async () => {
  const user = randomUUID();
  const { rows: inserted } = await database.pool.query<{ mode: string; since: string }>(
    `insert into execution_control.switches (exchange_id, side, user_id, mode, since, resumes_at) values
       ('venue_b', 'buy', null, 'cancel_only', now(), '2026-11-28T13:00:00Z'),
       (null, null, $1, 'halted', now(), null),
       ('venue_e', null, null, 'on', now(), null)
     returning mode, to_char(since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"000Z"') as since`,
    [user],
  );
  // The database sets `since`.
  const sinceOf = (mode: string): string | undefined => inserted.find((row) => row.mode === mode)?.since;
  const switches = [...(await new SwitchTable(database.pool).read())];
  expect(switches.sort((a, b) => (a.mode < b.mode ? -1 : 1))).toEqual([
    {
      ...{ venue: 'venue_b', side: 'buy', mode: 'cancel_only' },
      ...{ since: sinceOf('cancel_only'), resumes_at: '2026-11-28T13:00:00.000000000Z' },
    },
    { user_id: user, mode: 'halted', since: sinceOf('halted') },
  ]);
});
