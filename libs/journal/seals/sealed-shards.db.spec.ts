import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { everything, freshShard } from '#libs/testing/contracts/journal-subject.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { linkEvent } from '../hash-chain.js';
import type { JournalEntry, JournalHead, JournalWriter } from '../journal.js';
import { JournalFenced } from '../journal-errors.js';
import { journalMigrations } from '../migrations/list.js';
import { PostgresJournal } from '../postgres/postgres-journal.js';
import { PostgresJournalReader } from '../postgres/postgres-reader.js';
import { RecordMacs } from './record-macs.js';
import { JournalUnsealed } from './sealed-end.js';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const clock = new SystemClock();
const writers: JournalWriter[] = [];
let database: TestDatabase;
let reader: PostgresJournalReader;

beforeAll(async () => {
  database = await createTestDatabase(journalMigrations);
  reader = new PostgresJournalReader(database.pool, 'auction');
});

afterEach(() => Promise.all(writers.splice(0).map((writer) => writer.close())));

afterAll(() => database.drop());

/** Opens a shard. Without keys its records get no MACs. */
async function open(shard: number, ...keys: readonly Buffer[]): Promise<JournalWriter> {
  const [first, ...former] = keys;
  const seals = first === undefined ? undefined : new RecordMacs('auction', [first, ...former]);
  const writer = await new PostgresJournal({
    family: 'auction',
    url: database.url,
    clock,
    opener: 'ada',
    seals,
  }).open(shard);
  writers.push(writer);
  return writer;
}

/** Anyone with an owner's login can write a valid record with any MAC. */
async function forge(
  shard: number,
  head: JournalHead,
  seal: (entry: JournalEntry) => Buffer | null = () => null,
): Promise<void> {
  const entry = linkEvent(shard, head, '"forged"');
  await database.pool.query(
    `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash, seal)
     values ('auction', $1, $2, $3, 'event', $4, decode($5, 'hex'), $6)`,
    [shard, entry.sequence, entry.epoch, entry.payload, entry.hash, seal(entry)],
  );
}

async function countOf(shard: number): Promise<number> {
  return (await everything(reader, shard)).length;
}

async function epochOf(shard: number): Promise<number> {
  const text = 'select epoch from journal.shards where shard = $1';
  return (await database.pool.query<{ epoch: number }>(text, [shard])).rows[0]?.epoch ?? 0;
}

async function sealedFrom(shard: number): Promise<number | undefined> {
  const text = 'select sequence from journal.sealed where shard = $1';
  return (await database.pool.query<{ sequence: number }>(text, [shard])).rows[0]?.sequence;
}

describe('a writer with a key', () => {
  it("does not continue another family's journal", async () => {
    const shard = freshShard();
    const writer = await open(shard, OLD);
    for (const payload of ['"a"', '"b"']) await writer.append([payload]);
    await writer.close();
    for (const [table, columns] of [
      ['shards', 'shard, epoch'],
      ['sealed', 'shard, sequence'],
      ['records', 'shard, sequence, epoch, kind, payload, hash, seal'],
    ]) {
      await database.pool.query(
        `insert into journal.${table} (family, ${columns}) select 'execution', ${columns} from journal.${table} where shard = $1`,
        [shard],
      );
    }
    const options = { family: 'execution', url: database.url, clock, opener: 'eve' } as const;
    const another = new PostgresJournal({ ...options, seals: new RecordMacs('execution', [OLD]) });
    await expect(another.open(shard)).rejects.toBeInstanceOf(JournalUnsealed);
  });

  it('adds a MAC to the last record of each append and to each epoch record, from the first on', async () => {
    const shard = freshShard();
    const writer = await open(shard, OLD);
    await writer.append(['"a"', '"b"', '"c"']);
    await writer.append(['"d"']);
    await open(shard, OLD);
    const found = await everything(reader, shard);
    expect(found.map(({ seal }) => seal !== undefined)).toEqual([true, false, false, true, true, true]);
    const seals = new RecordMacs('auction', [OLD]);
    for (const entry of found)
      if (entry.seal !== undefined) expect(seals.isGood(entry, entry.seal)).toBe(true);
    expect(await sealedFrom(shard)).toBe(1);
    const sequences = found.map(({ sequence }) => sequence);
    expect(await reader.entries(shard, sequences)).toEqual(found);
  });
});

describe('a take-over', () => {
  it.each<[string, (shard: number, head: JournalHead) => Promise<void>]>([
    ['a record without a MAC', (shard, head) => forge(shard, head)],
    ['one with the MAC of the record before', forgeWithSealBefore],
  ])('writes nothing after %s, although its hash is right', async (_, forgery) => {
    const shard = freshShard();
    const writer = await open(shard, OLD);
    await writer.append(['"a"', '"b"']);
    await writer.close();
    await forgery(shard, writer.head);
    const attempt = open(shard, OLD);
    await expect(attempt).rejects.toBeInstanceOf(JournalUnsealed);
    await expect(attempt).rejects.toThrow(`shard ${shard}: its journal ends with record 4`);
    expect([await countOf(shard), await epochOf(shard)]).toEqual([4, 1]);
  });

  it.each<[string, (entry: JournalEntry) => Partial<JournalEntry>]>([
    ['has a wrong hash', () => ({ hash: 'ab'.repeat(32) })],
    ['is far after the end', ({ sequence }) => ({ sequence: sequence + 100 })],
    ['belongs to an epoch that never began', ({ epoch }) => ({ epoch: epoch + 5 })],
  ])(
    'fails as for damage at a record that %s, and names the first record that no owner wrote',
    async (_, wrong) => {
      const shard = freshShard();
      const writer = await open(shard, OLD);
      await writer.append(['"a"', '"b"']);
      await writer.close();
      for (const entry of [linkEvent(shard, writer.head, '"forged"')]) {
        const { sequence, epoch, payload, hash } = { ...entry, ...wrong(entry) };
        await database.pool.query(
          `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash) values ('auction', $1, $2, $3, 'event', $4, decode($5, 'hex'))`,
          [shard, sequence, epoch, payload, hash],
        );
      }
      await expect(open(shard, OLD)).rejects.toMatchObject({
        exitCode: EXIT.damaged,
        message: expect.stringMatching(
          /have written is 3\. .* no owner has written the records from 4 on, .* remove them/,
        ),
      });
      await database.pool.query('delete from journal.records where shard = $1 and sequence >= 4', [shard]);
      expect((await open(shard, OLD)).head.sequence).toBe(4);
    },
  );

  it('names no repair if a record that an owner wrote is damaged', async () => {
    const shard = freshShard();
    const writer = await open(shard, OLD);
    await writer.append(['"a"', '"b"']);
    await writer.close();
    await database.pool.query(
      `update journal.records set payload = '"c"' where shard = $1 and sequence = 3`,
      [shard],
    );
    const attempt = open(shard, OLD);
    await expect(attempt).rejects.toMatchObject({ exitCode: EXIT.damaged, name: 'JournalCorrupt' });
    await expect(attempt).rejects.not.toThrow('remove them');
  });

  it('continues once the forged record is gone', async () => {
    const shard = freshShard();
    const writer = await open(shard, OLD);
    await forge(shard, writer.head);
    await expect(open(shard, OLD)).rejects.toBeInstanceOf(JournalUnsealed);
    await database.pool.query('delete from journal.records where shard = $1 and sequence = 2', [shard]);
    expect((await open(shard, OLD)).head).toMatchObject({ sequence: 2 });
  });

  it('trusts a journal without a row once, and then no end without a MAC', async () => {
    const shard = freshShard();
    const old = await open(shard);
    await old.append(['"a"', '"b"']);
    expect(await sealedFrom(shard)).toBe(undefined);
    const first = await open(shard, OLD);
    expect([first.head.sequence, await sealedFrom(shard)]).toEqual([4, 4]);
    await first.append(['"c"']);
    expect((await open(shard, OLD)).head.sequence).toBe(6);
    expect(await sealedFrom(shard)).toBe(4);
    // This process writes without a key.
    await open(shard);
    await expect(open(shard, OLD)).rejects.toThrow('no owner has written it');
  });

  it('refuses a journal that ends before its first MAC', async () => {
    const shard = freshShard();
    const writer = await open(shard, OLD);
    await writer.append(['"a"']);
    await open(shard, OLD);
    await database.pool.query('update journal.sealed set sequence = 3 where shard = $1', [shard]);
    await database.pool.query('delete from journal.records where shard = $1 and sequence > 2', [shard]);
    await expect(open(shard, OLD)).rejects.toThrow('known to be sealed from 3 on');
  });

  it('accepts the MACs of all its keys, and names the cause if the key was removed', async () => {
    const shard = freshShard();
    await open(shard, OLD);
    await expect(open(shard, NEW)).rejects.toThrow('if a key was removed from ID_KEY, put it back');
    await open(shard, NEW, OLD);
    expect((await open(shard, NEW)).head.sequence).toBe(3);
  });
});

it('a writer whose position a forged record took acknowledges nothing, and has no successor', async () => {
  const shard = freshShard();
  const writer = await open(shard, OLD);
  await writer.append(['"a"']);
  await forge(shard, writer.head);
  await expect(writer.append(['"b"'])).rejects.toBeInstanceOf(JournalFenced);
  expect(writer.health()).toMatchObject({ ok: false });
  await expect(open(shard, OLD)).rejects.toBeInstanceOf(JournalUnsealed);
  expect(await countOf(shard)).toBe(3);
});

async function forgeWithSealBefore(shard: number, head: JournalHead): Promise<void> {
  const [before] = await reader.read(shard, head.sequence, 1);
  await forge(shard, head, () => before!.seal!);
}
