import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { everything, freshShard, range } from '#libs/testing/contracts/journal-subject.js';
import { openProxy, type TcpProxy } from '#libs/testing/network/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { JournalEntry } from '../journal.js';
import { JournalUnreadable } from '../journal-errors.js';
import { journalMigrations } from '../migrations/list.js';
import { RecordMacs } from '../seals/record-macs.js';
import { PostgresJournal } from './postgres-journal.js';
import { PostgresJournalReader } from './postgres-reader.js';

const ANSWER_WITHIN_MS = 2_000;
const APPENDS = 300;
const EACH = 3;
const MOST = 10_000;

const seals = new RecordMacs('auction', [Buffer.alloc(32, 1)]);
let database: TestDatabase;
let proxy: TcpProxy;
let url: string;
let pool: ReturnType<typeof openPool>;
let shard: number;
let written: readonly Partial<JournalEntry>[];

beforeAll(async () => {
  database = await createTestDatabase(journalMigrations);
  const { hostname, port } = new URL(database.url);
  proxy = await openProxy({ target: { host: hostname, port: Number(port) } });
  const through = new URL(database.url);
  through.host = `127.0.0.1:${proxy.port}`;
  url = through.href;
  pool = openPool(url, { applicationName: 'test', max: 1 });
  ({ shard, written } = await filled());
});

afterAll(async () => {
  await pool.end();
  await proxy.close();
  await database.drop();
});

/** Payloads of many sizes and with multi-byte characters, so that they are split everywhere. */
function payloadOf(number: number): string {
  const text = number % 2 === 0 ? 'x' : 'é€𝄞';
  return JSON.stringify(text.repeat((number * 37) % 1_500));
}

/** A shard with records, and its content as an ordinary statement reads it. */
async function filled(): Promise<{ readonly shard: number; readonly written: Partial<JournalEntry>[] }> {
  const shard = freshShard();
  const options = {
    family: 'auction' as const,
    url: database.url,
    clock: new SystemClock(),
    opener: 'ada',
    seals,
  };
  const writer = await new PostgresJournal(options).open(shard);
  for (const append of range(1, APPENDS)) {
    await writer.append(range(1, EACH).map((place) => payloadOf(append * EACH + place)));
  }
  await writer.close();
  const { rows } = await database.pool.query<
    Omit<JournalEntry, 'shard' | 'previousHash' | 'seal'> & { seal: Buffer | null }
  >(
    `select sequence, epoch, kind, payload, encode(hash, 'hex') as hash, seal from journal.records where shard = $1 order by sequence`,
    [shard],
  );
  return { shard, written: rows.map(({ seal, ...row }) => ({ ...row, ...(seal === null ? {} : { seal }) })) };
}

it('returns every record as it was written, for any record size and page size', async () => {
  const reader = new PostgresJournalReader(pool, 'auction');
  const whole = await reader.read(shard, 1, MOST);
  const again = await everything(reader, shard);
  expect(whole).toEqual(written.map((row) => expect.objectContaining(row) as unknown));
  expect(again).toEqual(whole);
  const sealed = whole.filter(({ seal }) => seal !== undefined);
  expect(sealed).toHaveLength(APPENDS + 1);
  for (const entry of sealed) expect(seals.isGood(entry, entry.seal!)).toBe(true);
  for (const limit of [1, 7, 64]) {
    for (const from of [1, 2, 65, whole.length]) {
      expect(await reader.read(shard, from, limit)).toEqual(whole.slice(from - 1, from - 1 + limit));
    }
  }
});

it('reports an unavailable store if a reply is cut off or missing, and retries later', async () => {
  const impatient = openPool(url, { applicationName: 'test', max: 1, answerTimeoutMs: ANSWER_WITHIN_MS });
  const reader = new PostgresJournalReader(impatient, 'auction');
  const faults = [() => proxy.cut(), () => proxy.blackhole('to-client')];
  for (const fault of faults) {
    expect(await reader.read(shard, 1, 1)).toHaveLength(1);
    const reading = reader.read(shard, 1, MOST);
    fault();
    await expect(reading).rejects.toBeInstanceOf(JournalUnreadable);
    proxy.heal();
    expect(await reader.read(shard, 1, MOST)).toHaveLength(written.length);
  }
  await impatient.end();
});

it('fails only the page if a record is damaged: the connection stays usable', async () => {
  const damage = `update journal.records set payload = 'other' where shard = $1 and sequence = $2`;
  await database.pool.query(damage, [shard, 2]);
  const reader = new PostgresJournalReader(pool, 'auction');
  const [server] = (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;
  for (const from of [1, 2]) {
    await expect(reader.read(shard, from, MOST)).rejects.toMatchObject({
      name: 'JournalCorrupt',
      sequence: 2,
    });
  }
  expect(await reader.read(shard, 4, MOST)).toHaveLength(written.length - 3);
  expect((await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]).toEqual(server);
});

it('does not query impossible positions', async () => {
  const reader = new PostgresJournalReader(pool, 'auction');
  await expect(reader.read(1.5, 1, 1)).rejects.toThrow('1.5 is not a position in a journal');
  await expect(reader.read(0, 1, Infinity)).rejects.toThrow('Infinity is not a position in a journal');
});
