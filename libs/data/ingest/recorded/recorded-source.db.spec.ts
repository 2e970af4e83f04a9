import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { clock, IngestWorld } from '#libs/testing/data/ingest-world.js';
import { eventually } from '#libs/testing/eventually.js';
import { PauseTable } from '../../store/pause-table.js';
import { type RecordedFile, RecordedTable } from '../../store/recorded-table.js';
import { BackfillTable } from '../../store/backfill-table.js';
import { DataIngest } from '../data-ingest.js';
import { RecordedSource } from './recorded-source.js';

jest.setTimeout(120_000);

let world: IngestWorld;
let folder = '';
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(() => world.end());
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'recorded-'));
});
afterEach(async () => {
  await stopAll();
  await world.empty();
  await rm(folder, { recursive: true });
});

async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
}

async function start(): Promise<DataIngest> {
  const { pool } = world.database;
  const onFault = (what: string, error: unknown): void => void world.faults.push(`${what}: ${String(error)}`);
  const source = new RecordedSource(folder, { table: new RecordedTable(pool), clock, onFault });
  await source.start();
  const ingest = new DataIngest(source.feeds, {
    ...{ pool, clock, journal: world.journal, reader: world.reader, onFault },
  });
  await ingest.start();
  stops.push(async () => {
    await ingest.stop();
    await source.stop();
  });
  return ingest;
}

type Line = Readonly<Record<string, unknown>>;
const at = (second: number): string => new Date(1_700_000_000_000 + second * 1_000).toISOString();
const market = (provider: string): Line => ({
  ...{ type: 'MARKET', provider, source_id: 'm', source_ts: at(0), market_id: 'm', name: 'Rain' },
  outcomes: [{ label: 'Yes' }, { label: 'No' }],
});
const trade = (provider: string, id: string, second = 1): Line => ({
  ...{ type: 'TRADE', provider, source_id: id, source_ts: at(second), market_id: 'm' },
  ...{ outcome_index: 0, price: '0.5', size: '1', side: 'buy' },
});
const book = (sequence: number, snapshot: boolean, bids: unknown[]): Line => ({
  ...{
    type: 'BOOK',
    provider: 'venue_a',
    source_id: `b${sequence}`,
    source_ts: at(sequence),
    market_id: 'm',
  },
  ...{ outcome_index: 0, sequence, snapshot, bids, asks: [] },
});
const text = (...lines: Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
const file = (name: string): string => path.join(folder, name);

async function states(): Promise<RecordedFile[]> {
  return new RecordedTable(world.database.pool).all();
}

async function applied(name: string, of: Partial<RecordedFile>): Promise<void> {
  await eventually(async () => {
    expect((await states()).find((each) => each.file === name)).toMatchObject(of);
  });
}

async function trades(): Promise<string[]> {
  const { rows } = await world.database.pool.query<{ text: string }>(
    `select concat_ws(' ', provider, source_id) as text from data.trades join data.markets on market_no = instrument / 64`,
  );
  return rows.map((row) => row.text).sort();
}

it('lines of one file go to the journals of several providers, and count once each is stored', async () => {
  const lines = [market('venue_a'), trade('venue_a', 'x'), market('venue_c'), trade('venue_c', 'x')];
  await writeFile(file('a.ndjson'), text(...lines, trade('venue_c', 'x'), trade('venue_e', 'waits')));
  const ingest = await start();
  await eventually(() => expect(ingest.isCaughtUp).toBe(true));
  expect(await trades()).toEqual(['0 x', '2 x']);
  const size = Buffer.byteLength(text(...lines, trade('venue_c', 'x'), trade('venue_e', 'waits')));
  await applied('a.ndjson', { bytes: size, readBytes: size, lines: 6, appliedLines: 6, refusedCount: 0 });
  expect(world.faults).toEqual([]);
});

it('new lines and new files are read, and an incomplete line waits for its newline', async () => {
  await writeFile(file('b.ndjson'), text(market('venue_a')));
  await start();
  await applied('b.ndjson', { appliedLines: 1 });
  const line = text(trade('venue_a', 'x'));
  await appendFile(file('b.ndjson'), line.slice(0, 40));
  await writeFile(file('a.ndjson'), text(trade('venue_a', 'y')));
  await applied('a.ndjson', { appliedLines: 1 });
  await applied('b.ndjson', { lines: 1, bytes: Buffer.byteLength(text(market('venue_a'))) + 40 });
  await appendFile(file('b.ndjson'), line.slice(40));
  await applied('b.ndjson', { lines: 2, appliedLines: 2 });
  expect(await trades()).toEqual(['0 x', '0 y']);
});

it('resumes after a restart, and reads a file that became shorter from the start', async () => {
  await writeFile(file('a.ndjson'), text(market('venue_a'), trade('venue_a', 'x')));
  await start();
  await applied('a.ndjson', { appliedLines: 2 });
  await stopAll();
  await appendFile(file('a.ndjson'), text(trade('venue_a', 'y')));
  await start();
  await applied('a.ndjson', { lines: 3, appliedLines: 3 });
  await truncate(file('a.ndjson'), 0);
  await applied('a.ndjson', { lines: 0, bytes: 0, appliedLines: 0 });
  await writeFile(file('a.ndjson'), text(trade('venue_a', 'y'), trade('venue_a', 'z')));
  await applied('a.ndjson', { lines: 2, appliedLines: 2 });
  expect(await trades()).toEqual(['0 x', '0 y', '0 z']);
  const { rows } = await world.database.pool.query('select conflicts from data.freshness where provider = 0');
  expect(rows).toEqual([{ conflicts: 0 }]);
});

it('a trade without a time has that of its first receipt, and is no conflict when it comes again', async () => {
  await writeFile(
    file('a.ndjson'),
    text(market('venue_a'), { ...trade('venue_a', 'x'), source_ts: undefined }),
  );
  const before = Date.now() * 1_000;
  await start();
  await applied('a.ndjson', { appliedLines: 2 });
  const stored = await world.storedTrades();
  const [, , time] = stored[0]!.split(' ');
  expect(Number(time)).toBeGreaterThan(before - 1_000);
  await appendFile(file('a.ndjson'), text({ ...trade('venue_a', 'x'), source_ts: undefined }));
  await applied('a.ndjson', { appliedLines: 3 });
  expect(await world.storedTrades()).toEqual(stored);
  await eventually(async () => {
    const { rows } = await world.database.pool.query(
      'select conflicts, lag_events from data.freshness where provider = 0',
    );
    expect(rows).toEqual([{ conflicts: 0, lag_events: 0 }]);
  });
});

it('refused lines stop nothing: they are counted, and the last twenty are kept with reasons', async () => {
  const long = `{"type":"MARKET","name":"${'x'.repeat(1_100_000)}"}`;
  const reasons = [
    ['no json', 'not_json'],
    ['', 'not_json'],
    ['{"type":"GOSSIP"}', 'unknown_type'],
    [text({ ...trade('venue_a', 'x'), price: undefined }).trim(), 'missing_field'],
    [text({ ...trade('venue_a', 'x'), price: '1.5' }).trim(), 'bad_value'],
    [text({ ...market('venue_a'), description: '\ud800' }).trim(), 'not_json'],
    [long, 'too_long'],
  ];
  const garbage = Array.from({ length: 20 }, () => 'garbage\n').join('');
  const bad = reasons.map(([line]) => `${line}\n`).join('');
  await writeFile(file('a.ndjson'), garbage + text(market('venue_a')) + bad + text(trade('venue_a', 'x')));
  await start();
  await applied('a.ndjson', { lines: 29, appliedLines: 29, refusedCount: 27 });
  expect(await trades()).toEqual(['0 x']);
  const [{ refused }] = (await states()) as [RecordedFile];
  expect(refused).toHaveLength(20);
  expect(refused.slice(-7)).toEqual(reasons.map(([, reason], index) => ({ line: 22 + index, reason })));
});

it('the lines of a paused provider are read but not applied until it is resumed', async () => {
  const pauses = new PauseTable(world.database.pool);
  await pauses.pause('venue_a');
  await writeFile(
    file('a.ndjson'),
    text(market('venue_a'), market('venue_c'), trade('venue_c', 'x'), book(1, true, [['0.4', '3']])),
  );
  await start();
  await applied('a.ndjson', { appliedLines: 0, lines: 0 });
  await eventually(async () => expect(await trades()).toEqual(['2 x']));
  await pauses.resume('venue_a');
  await applied('a.ndjson', { appliedLines: 4, lines: 4 });
  const { rows } = await world.database.pool.query('select sequence from data.books');
  expect(rows).toEqual([{ sequence: '1' }]);
});

it('lines that were journaled but not applied are counted after a restart', async () => {
  const pauses = new PauseTable(world.database.pool);
  await writeFile(file('a.ndjson'), text(market('venue_a'), trade('venue_a', 'x')));
  await pauses.pause('venue_a');
  await start();
  await applied('a.ndjson', { lines: 2, appliedLines: 0 });
  await stopAll();
  await pauses.resume('venue_a');
  await start();
  await applied('a.ndjson', { lines: 2, appliedLines: 2 });
  expect(await trades()).toEqual(['0 x']);
});

it('a backfill of files restores lost rows, and nothing counts twice', async () => {
  await writeFile(file('a.ndjson'), text(market('venue_a'), trade('venue_a', 'x'), trade('venue_a', 'y', 9)));
  await start();
  await applied('a.ndjson', { appliedLines: 3 });
  const { pool } = world.database;
  await pool.query(`delete from data.identities`);
  await new BackfillTable(pool).add({ provider: 'venue_a', from: Date.parse(at(1)) * 1_000, to: undefined });
  await eventually(async () => {
    const { rows } = await pool.query('select from data.identities');
    expect(rows.length).toBe(2);
  });
  expect(await trades()).toEqual(['0 x', '0 y']);
});

it('two processes take the journals from each other: every event counts once, and the last process has all of them', async () => {
  const lines = Array.from({ length: 200 }, (_, nth) => trade('venue_a', `t${nth}`, nth));
  await writeFile(file('a.ndjson'), text(market('venue_a'), ...lines.slice(0, 100)));
  await start();
  await start();
  await eventually(async () => expect(await trades()).toHaveLength(100));
  await appendFile(file('a.ndjson'), text(...lines.slice(50)));
  await eventually(() =>
    expect(world.faults).toContainEqual(expect.stringMatching(/venue_a: journal.*JournalFenced/)),
  );
  await stops.shift()?.();
  await applied('a.ndjson', { lines: 251, appliedLines: 251 });
  expect(await trades()).toHaveLength(200);
  const { rows } = await world.database.pool.query(
    `select count(*) from journal.records where payload like '%"TRADE"%'`,
  );
  expect(rows).toEqual([{ count: 200 }]);
});
