import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { events, freshShard, until } from '#libs/testing/contracts/journal-subject.js';
import { openProxy, type TcpProxy } from '#libs/testing/network/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { JournalWriter } from '../journal.js';
import { JournalAmbiguous, JournalFenced, JournalUnavailable } from '../journal-errors.js';
import { journalMigrations } from '../migrations/list.js';
import { PostgresJournal } from './postgres-journal.js';
import { PostgresJournalReader } from './postgres-reader.js';

const clock = new SystemClock();
let database: TestDatabase;
let reader: PostgresJournalReader;
let proxy: TcpProxy;
let shard: number;
let writer: JournalWriter;

beforeAll(async () => {
  database = await createTestDatabase(journalMigrations);
  reader = new PostgresJournalReader(database.pool, 'auction');
});

beforeEach(async () => {
  const { hostname, port } = new URL(database.url);
  proxy = await openProxy({ target: { host: hostname, port: Number(port) } });
  shard = freshShard();
  writer = await journalThrough(proxy.port).open(shard);
});

afterEach(async () => {
  await writer.close();
  await proxy.close();
});

afterAll(() => database.drop());

function journalThrough(port: number): PostgresJournal {
  const url = new URL(database.url);
  url.host = `127.0.0.1:${port}`;
  const times = { openWithinMillis: 5_000, appendWithinMillis: 300, settleWithinMillis: 4_000 };
  return new PostgresJournal({ family: 'auction', url: url.href, clock, opener: 'ada', ...times });
}

function openAsOther(): Promise<JournalWriter> {
  return new PostgresJournal({ family: 'auction', url: database.url, clock, opener: 'ben' }).open(shard);
}

async function epoch(): Promise<number> {
  const { rows } = await database.pool.query<{ epoch: number }>(
    'select epoch from journal.shards where shard = $1',
    [shard],
  );
  return rows[0]!.epoch;
}

/** The number of journal connections that the server still serves. */
async function backends(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*) from pg_stat_activity
     where datname = current_database() and application_name = 'sotto-journal'`,
  );
  return rows[0]!.count;
}

/** The number of journal connections that wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*) from pg_stat_activity
     where datname = current_database() and application_name = 'sotto-journal' and wait_event_type = 'Lock'`,
  );
  return rows[0]!.count;
}

describe('an append whose reply is lost', () => {
  it('is acknowledged once it is found in the journal, and the writer continues', async () => {
    proxy.blackhole('to-client');
    proxy.heal();
    expect((await writer.append(['"a"', '"b"'])).firstSequence).toBe(2);
    expect(writer.health()).toEqual({ ok: true });
    expect((await writer.append(['"c"'])).firstSequence).toBe(4);
    expect(await events(reader, shard)).toEqual(['"a"', '"b"', '"c"']);
    expect(await epoch()).toBe(1);
  });

  it('is found in the journal also if the connection is reset instead of going silent', async () => {
    proxy.stall('to-client');
    const append = writer.append(['"a"']);
    await until(clock, async () => (await reader.heads()).get(shard) === 2);
    proxy.cut();
    proxy.heal();
    expect((await append).firstSequence).toBe(2);
    await writer.append(['"b"']);
    expect(await events(reader, shard)).toEqual(['"a"', '"b"']);
  });

  it('is awaited while the server still executes it, and never denied before it commits', async () => {
    const obstacle = await database.pool.connect();
    await obstacle.query('begin');
    await obstacle.query(
      `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash)
       values ('auction', $1, 2, 1, 'event', '"rogue"', decode(repeat('ab', 32), 'hex'))`,
      [shard],
    );
    const append = writer.append(['"a"']);
    try {
      await until(clock, async () => (await waiting()) === 1);
      proxy.cut();
      await until(clock, async () => (await waiting()) === 2);
    } finally {
      await obstacle.query('rollback');
      obstacle.release();
    }
    expect((await append).firstSequence).toBe(2);
    expect(await events(reader, shard)).toEqual(['"a"']);
    expect(await epoch()).toBe(1);
  });

  it('is ambiguous if another process has opened the shard since', async () => {
    proxy.stall('to-client');
    const append = writer.append(['"a"']);
    await until(clock, async () => (await reader.heads()).get(shard) === 2);
    const successor = await openAsOther();
    proxy.cut();
    proxy.heal();
    await expect(append).rejects.toBeInstanceOf(JournalAmbiguous);
    await successor.close();
  });
});

describe('an append that never arrived', () => {
  it('is denied, and can no longer arrive', async () => {
    proxy.stall('to-server');
    await expect(writer.append(['"ghost"'])).rejects.toBeInstanceOf(JournalUnavailable);
    expect(await epoch()).toBe(2);
    const before = await backends();
    proxy.heal();
    await until(clock, async () => (await backends()) < before);
    expect(await events(reader, shard)).toEqual([]);
    const successor = await openAsOther();
    expect(successor.head).toMatchObject({ epoch: 3, sequence: 2 });
    await successor.close();
  });

  it('is denied as fenced if another process has opened the shard since', async () => {
    proxy.blackhole('to-server');
    const append = writer.append(['"a"']);
    const successor = await openAsOther();
    proxy.heal();
    await expect(append).rejects.toBeInstanceOf(JournalFenced);
    await successor.close();
    expect(await events(reader, shard)).toEqual([]);
  });
});

describe('a connection that is lost while idle', () => {
  it('shows in the health, and fails the next append without writing', async () => {
    proxy.cut();
    await until(clock, () => !writer.health().ok);
    await expect(writer.append(['"a"'])).rejects.toBeInstanceOf(JournalUnavailable);
    expect(await events(reader, shard)).toEqual([]);
  });
});

describe('a refusal by the server', () => {
  it('is unambiguous: nothing was written', async () => {
    await database.pool.query(
      `alter table journal.records add constraint no_x check (payload <> '"x"') not valid`,
    );
    await expect(writer.append(['"a"', '"x"'])).rejects.toBeInstanceOf(JournalUnavailable);
    await database.pool.query('alter table journal.records drop constraint no_x');
    expect(await events(reader, shard)).toEqual([]);
    expect(await epoch()).toBe(1);
  });
});
