import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { Follower } from '#libs/projecting/following/follower.js';
import type { Projection } from '#libs/projecting/projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { RandomCell } from '#libs/testing/execution/cell-journal.js';
import { executionMigrations } from '../../migrations/list.js';
import { executionProjection } from '../projection.js';
import { executionBooker } from './booker.js';

jest.setTimeout(60_000);

const clock = new SystemClock();
let database: TestDatabase;
let writer: JournalWriter;

beforeAll(async () => {
  database = await createTestDatabase([
    ...[...journalMigrations, ...admissionMigrations, ...custodyMigrations, ...executionMigrations],
  ]);
  const seals = new RecordMacs('execution', [Buffer.alloc(32, 1)]);
  const ports = { family: 'execution', url: database.url, clock, opener: 'cell-1', seals } as const;
  writer = await new PostgresJournal(ports).open(1);
});
afterAll(async () => {
  await writer.close();
  await database.drop();
});

it('rows and ledger each follow the journal of a cell, while another cell has no journal yet', async () => {
  const { pool } = database;
  const faults: unknown[] = [];
  const follow = <Kept>(projection: Projection<Kept>): Follower =>
    new Follower({
      pool,
      reader: new PostgresJournalReader(pool, 'execution'),
      projector: new Projector(projection, { inTransaction: transactionsOf(pool), clock }),
      clock,
      shards: [0, 1],
      onFault: (_, error) => faults.push(error),
    });
  const followers = [follow(executionProjection), follow(executionBooker)];
  for (const follower of followers) follower.start();
  const { events, records } = new RandomCell(31, 200, 1).journal;
  await writer.append(records.slice(1).map(({ payload }) => payload));
  const { sequence } = writer.head;
  await eventually(async () => {
    const { rows } = await pool.query<{ sequence: number }>(
      `select sequence from execution.projection_offsets where shard = 1
       union all select sequence from custody.booking_offsets where shard = 1`,
    );
    expect(rows.map((row) => row.sequence)).toEqual([sequence, sequence]);
  });
  for (const follower of followers) await follower.stop();
  expect(faults).toEqual([]);
  const fillIds = new Set(
    events.flatMap((event) => (event.type === 'ORDER_FILLED' ? [event.fill.fill_id] : [])),
  );
  const { rows } = await pool.query<{ booked: number; shown: number }>(
    `select (select count(*) from custody.transactions where kind = 'FILL') as booked,
       (select count(*) from execution.fills where order_id is not null) as shown`,
  );
  expect(rows).toEqual([{ booked: fillIds.size, shown: fillIds.size }]);
});
