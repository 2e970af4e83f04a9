import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { evolve } from '#libs/auction/rules/evolve/evolve.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import { SHAPES } from '#libs/auction/rules/event-shapes.js';
import { decodeEvent, isOfAuction } from '#libs/auction/rules/event-versions.js';
import { beforeFirst, linkEvent, recordHash } from '#libs/journal/hash-chain.js';
import { HistoryTable } from '#libs/auction/shard/histories/history-table.js';
import type { EntryKind, JournalEntry } from '#libs/journal/journal.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import { expectedHolds } from '#libs/testing/auctions/holds.js';
import { lawfulSession } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { callOf, JOURNAL } from '#libs/auction/proof/call.js';
import { parseCall } from '#libs/platform/terminal/parse-call.js';

jest.setTimeout(60_000);

const SHARD = 0;
const EVENTS = 120;
const clock = new SystemClock();
let database: TestDatabase;
let entries: JournalEntry[];

/** Runs the command as a shell would. */
function journal(
  args: string,
  env: Readonly<Record<string, string>> = { DATABASE_URL: database.url },
): Promise<ToolRun> {
  return runTool('apps/cli/main.js journal', args.split(' '), env);
}

function statesOf(all: readonly JournalEntry[]): AuctionState[] {
  const states = new Map<string, AuctionState>();
  for (const { kind, payload, sequence: position } of all) {
    const event = kind === 'event' ? decodeEvent(payload) : undefined;
    if (event === undefined || !isOfAuction(event)) continue;
    states.set(event.auction_id, evolve(states.get(event.auction_id), { event, position }));
  }
  return [...states.values()];
}

/** A shard with trading, and the tables that follow from its journal. */
beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  const { pool } = database;
  const writer = await new PostgresJournal({
    family: 'auction',
    url: database.url,
    clock,
    opener: 'test',
  }).open(SHARD);
  const payloads = lawfulSession(7, 30)
    .records.filter(({ kind }) => kind === 'event')
    .map(({ payload }) => payload);
  // Stops before the end, so that some auctions are still open and hold reservations.
  await writer.append(payloads.slice(0, EVENTS));
  await writer.close();
  entries = await everything(new PostgresJournalReader(pool, 'auction'), SHARD);
  const projector = new Projector(auctionProjection, { inTransaction: transactionsOf(pool), clock });
  await projector.take(SHARD, entries);
  for (const [name, amount] of Object.entries(expectedHolds(statesOf(entries)))) {
    const [account, venue, resource, ...asset] = name.split('/');
    await pool.query(
      'insert into risk.reserved (account_id, venue, resource, asset, shard_0) values ($1, $2, $3, $4, $5)',
      [account, venue, resource, asset.join('/'), amount],
    );
  }
  for (const table of ['journal.records', 'risk.reserved', 'auction_history.quotes']) {
    await pool.query(`create table ${copyOf(table)} as table ${table}`);
  }
});

afterEach(async () => {
  for (const table of ['journal.records', 'risk.reserved', 'auction_history.quotes']) {
    await database.pool.query(`truncate ${table}`);
    await database.pool.query(`insert into ${table} select * from ${copyOf(table)}`);
  }
});

afterAll(() => database.drop());

function copyOf(table: string): string {
  return `public.${table.replace('.', '_')}`;
}

describe('npm run journal -- --family', () => {
  it('checks the journals of one family, without the tables of auctions', async () => {
    const { url, pool } = database;
    const shards = [SHARD, SHARD + 7];
    for (const shard of shards) {
      const writer = await new PostgresJournal({ family: 'execution', url, clock, opener: 'test' }).open(
        shard,
      );
      await writer.append(['{"type":"ORDER"}']);
      await writer.close();
    }
    const { code, output } = await journal('verify --family execution --output json');
    expect([code, JSON.parse(output)]).toMatchObject([
      0,
      { sound: true, shards: shards.map((shard) => ({ shard, records: 2, faults: [] })) },
    ]);
    const dumped = await journal(`dump --family execution --shard ${SHARD + 7} --kind event`);
    expect(JSON.parse(dumped.output)).toMatchObject({ shard: SHARD + 7, payload: { type: 'ORDER' } });
    expect((await journal('verify')).code).toBe(0);

    await pool.query(
      `update journal.records set payload = payload || ' ' where family = 'execution' and sequence = 2`,
    );
    expect((await journal('verify --family execution')).code).toBe(1);
    expect((await journal('verify')).code).toBe(0);
    expect((await journal('dump --family execution --type AUCTION_CREATED')).code).toBe(64);
    expect((await journal('verify --family nobody')).code).toBe(64);
    await pool.query(`delete from journal.shards where family = 'execution'`);
  });
});

describe('npm run journal -- verify', () => {
  it('reports the contents of a sound journal', async () => {
    const { code, output } = await journal('verify --output json');
    expect([code, JSON.parse(output)]).toMatchObject([
      0,
      {
        sound: true,
        store: 'postgres',
        shards: [
          {
            shard: 0,
            records: entries.length,
            epochs: 1,
            faults: [],
            rules: { auctions: statesOf(entries).length, found: 0 },
          },
          { records: 0 },
          { records: 0 },
        ],
        reservations: { missing: [], surplus: [] },
      },
    ]);
    const { reservations } = JSON.parse(output) as { reservations: { resources: number } };
    expect(reservations.resources).toBeGreaterThan(0);
    expect((await journal('verify --shard 0')).output).toContain('SOUND');
  });

  it.each([
    [
      'a changed payload',
      `update journal.records set payload = payload || ' ' where sequence = 20`,
      'sequence 20',
    ],
    ['a removed record', 'delete from journal.records where sequence = 20', 'sequence 20'],
    [
      'a truncated end',
      'delete from journal.records where sequence > (select max(sequence) - 5 from journal.records)',
      'but projections know record',
    ],
    [
      'a reservation in an epoch that the journal lacks',
      'insert into risk.shard_fence values (0, 2) on conflict (shard) do update set epoch = 2',
      'reservations were made in epoch 2',
    ],
    [
      'a quote that differs in the projections',
      `update auction_history.quotes set status = status || 'X' where quote_id = (select min(quote_id::text)::uuid from auction_history.quotes)`,
      '1 NOT AS THE JOURNALS SAY',
    ],
    [
      'a reservation smaller than the promise',
      `update risk.reserved set shard_0 = shard_0 - 1 where account_id = (select min(account_id) from risk.reserved where shard_0 > 0)`,
      'WITH TOO LITTLE',
    ],
  ])('finds %s', async (_, statement, message) => {
    await database.pool.query(statement);
    const { code, output } = await journal('verify');
    await database.pool.query('delete from risk.shard_fence');
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
    expect(output).toContain('DAMAGED');
  });

  it.each([
    [
      'a balance without an entry',
      `insert into custody.balances values ('a', 'vault', 'v', '', 'available', 5)`,
      'The balance of a v',
    ],
    [
      'an award that no journal has',
      `insert into custody.settlements values ('9a000000-0000-8000-8000-000000000000', 'FAILED', 'x', null, null, now())`,
      'Award 9a000000-0000-8000-8000-000000000000 is in the ledger, and no journal knows it: FAILED',
    ],
    [
      'evidence without a balance',
      `insert into risk.evidence values ('a', 'v', 'COLLATERAL', '', 5, 0, 1, now(), now())`,
      'The evidence for a v COLLATERAL is not what the ledger says',
    ],
    [
      'evidence for a limit that does not exist',
      `insert into risk.evidence values ('a', 'v', 'VENUE_POSITION_LIMIT', '', 5, 0, 1, now(), now())`,
      'The evidence for a v VENUE_POSITION_LIMIT is not what the ledger says',
    ],
    [
      'a balance without evidence',
      `insert into custody.balances values ('a', 'vault', 'v', '', 'available', 5)`,
      'There is no evidence for a v, although the ledger has a balance or limit',
    ],
  ])('finds in the ledger: %s', async (_, statement, message) => {
    await database.pool.query(statement);
    const { code, output } = await journal('verify');
    await database.pool.query(
      `alter table custody.settlements disable trigger user; delete from custody.settlements;
       alter table custody.settlements enable trigger user`,
    );
    await database.pool.query(`delete from custody.balances where account_id = 'a'`);
    await database.pool.query(`delete from risk.evidence where account_id = 'a'`);
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
  });

  it('finds a rewritten history with a valid hash chain', async () => {
    await rewriteRecords(
      entries.map((entry) => (entry.sequence === 2 ? { ...entry, payload: entries[3]!.payload } : entry)),
    );
    const { code, output } = await journal('verify');
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('is not the one from which the projections were made'),
    ]);
  });

  it('names the missing seal as well as the broken rule of a forged record', async () => {
    const forged = linkEvent(SHARD, entries.at(-1)!, '{"type":"FORGED"}');
    await database.pool.query(
      `insert into journal.sealed (family, shard, sequence) values ('auction', $1, $2)`,
      [SHARD, forged.sequence],
    );
    await database.pool.query(
      `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash) values ('auction', $1, $2, $3, $4, $5, decode($6, 'hex'))`,
      [SHARD, forged.sequence, forged.epoch, forged.kind, forged.payload, forged.hash],
    );
    const { code, output } = await journal('verify');
    const ofChains = await journal('verify --chain-only');
    await database.pool.query('delete from journal.sealed');
    expect(code).toBe(1);
    expect(ofChains).toMatchObject({ code: 1, output: expect.stringContaining('has no seal') });
    expect(output).toContain(`record ${forged.sequence} BREAKS THE RULES`);
    expect(output).toContain(`record ${forged.sequence} ends an append and has no seal`);
  });

  it.each([
    ['verify --chain-only', {}],
    ['verify --store postgres', { KAFKA_BROKERS: '127.0.0.1:1' }],
    ['verify --store postgres --chain-only', { KAFKA_BROKERS: '127.0.0.1:1' }],
  ])('%s finds a truncated end, whatever else is set', async (args, env) => {
    const place = { DATABASE_URL: database.url, ...env };
    expect(await journal(args, place)).toMatchObject({ code: 0, output: expect.stringContaining('SOUND') });
    await database.pool.query('delete from journal.records where sequence > 20');
    expect(await journal(args, place)).toMatchObject({
      code: 1,
      output: expect.stringContaining('it ends at 20, but projections know record'),
    });
  });

  it('--chain-only checks the epochs of reservations and the external checkpoint of Kafka', async () => {
    const fence = 'insert into risk.shard_fence values (0, 2) on conflict (shard) do update set epoch = 2';
    await database.pool.query(fence);
    expect((await journal('verify --chain-only')).output).toContain('reservations were made in epoch 2');
    await database.pool.query('delete from risk.shard_fence');
    await database.pool.query(
      `insert into journal.witness (family, shard, sequence, hash) values ('auction', 0, 900, sha256('x'))`,
    );
    const { code, output } = await journal('verify --chain-only');
    await database.pool.query('delete from journal.witness');
    expect([code, output]).toEqual([1, expect.stringContaining('but this database has seen record 900')]);
  });

  it('finds a stored history of an auction that differs from the journal', async () => {
    const over = statesOf(entries).filter(({ completed_at: at }) => at !== undefined);
    const [id = ''] = over.map(({ terms }) => terms.auction_id);
    const positions = entries
      .filter(({ kind, payload }) => kind === 'event' && payload.includes(`"auction_id":"${id}"`))
      .map(({ sequence }) => sequence);
    const keep = (some: readonly number[]) =>
      new HistoryTable(database.pool, SHARD).keep([{ auctionId: id, positions: some }]);
    await keep(positions);
    const sound = await journal('verify --shard 0');
    expect([sound.code, sound.output]).toEqual([
      0,
      expect.stringContaining('shard 0: 1 histories of auctions that are over, all as in the journal\n'),
    ]);
    await database.pool.query('truncate journal.histories');
    await keep(positions.slice(1));
    const wrong = await journal('verify --shard 0');
    expect([wrong.code, wrong.output]).toEqual([
      1,
      expect.stringContaining(`shard 0: the history of auction ${id} DIFFERS FROM THE JOURNAL\n`),
    ]);
    await database.pool.query('truncate journal.histories');
  });

  it('accepts surplus reservations of a killed owner', async () => {
    await database.pool.query('update risk.reserved set shard_0 = shard_0 + 5');
    const { code, output } = await journal('verify');
    expect([code, output]).toEqual([0, expect.stringContaining('which the next owner releases')]);
  });
});

describe('npm run journal -- dump', () => {
  it('prints every record, enough to recompute the whole chain', async () => {
    const lines = linesOf((await journal('dump --raw')).output);
    expect(lines).toHaveLength(entries.length);
    let before = beforeFirst('auction').hash;
    for (const { shard, sequence, epoch, kind, payload, previous_hash: previousHash, hash } of lines) {
      expect(previousHash).toBe(before);
      before = recordHash({ shard, sequence, epoch, kind, payload: String(payload), previousHash });
      expect(before).toBe(hash);
    }
  });

  it('prints the records that the filters select', async () => {
    const all = entries.filter(({ kind }) => kind === 'event').map(({ payload }) => decodeEvent(payload));
    const opened = linesOf((await journal('dump --type AUCTION_OPENED')).output);
    expect(opened).toHaveLength(all.filter(({ type }) => type === 'AUCTION_OPENED').length);
    const [auction] = all.flatMap((event) => ('auction_id' in event ? [event.auction_id] : []));
    const ofAuction = linesOf((await journal(`dump --auction ${auction ?? ''}`)).output);
    expect(ofAuction.map(({ payload }) => payload)).toEqual(
      all.filter((event) => 'auction_id' in event && event.auction_id === auction),
    );
    const some = linesOf((await journal('dump --shard 0 --from 5 --to 9 --kind event')).output);
    expect(some.map(({ sequence }) => sequence)).toEqual([5, 6, 7, 8, 9]);
    expect(linesOf((await journal('dump --kind epoch')).output)).toHaveLength(1);
  });

  it('prints records before the damage, reports its place, and marks records from there on', async () => {
    await database.pool.query(`update journal.records set payload = payload || ' ' where sequence = 5`);
    const { code, output, errors } = await journal('dump --raw');
    expect([code, linesOf(output).map(({ sequence }) => sequence)]).toEqual([
      1,
      entries.map(({ sequence }) => sequence),
    ]);
    const marked = linesOf(output).filter(({ damaged }) => damaged !== undefined);
    expect(marked.map(({ sequence }) => sequence)).toEqual(entries.slice(4).map(({ sequence }) => sequence));
    expect(marked[0]).toMatchObject({
      payload: `${entries[4]!.payload} `,
      hash: entries[4]!.hash,
      damaged: expect.stringContaining('is corrupt at sequence 5: its hash'),
    });
    expect(errors).toContain('journal: journal of shard 0 is corrupt at sequence 5: its hash');
    expect(linesOf((await journal('dump --kind event')).output).map(({ sequence }) => sequence)).toEqual([
      2, 3, 4,
    ]);
    const later = linesOf((await journal('dump --from 6')).output);
    expect(later.filter(({ damaged }) => damaged === undefined)).toHaveLength(entries.length - 5);
    const some = linesOf((await journal('dump --from 4 --to 5')).output);
    expect(some.map(({ sequence, damaged }) => [sequence, damaged !== undefined])).toEqual([
      [4, false],
      [5, true],
    ]);
  });

  it('prints the records after one with a changed hash', async () => {
    await database.pool.query(`update journal.records set hash = sha256('other') where sequence = 5`);
    const later = await journal('dump --from 6');
    const lines = linesOf(later.output);
    expect(lines.map(({ sequence }) => sequence)).toEqual(entries.slice(5).map(({ sequence }) => sequence));
    expect(lines[0]!.damaged).toContain('is corrupt at sequence 6: its hash');
    expect([later.code, later.errors]).toEqual([1, expect.stringContaining('corrupt at sequence 6')]);
    await database.pool.query('delete from journal.records where sequence between 7 and 9');
    const rest = linesOf((await journal('dump --from 7')).output);
    expect(rest.map(({ sequence }) => sequence)).toEqual(entries.slice(9).map(({ sequence }) => sequence));
    expect(rest[0]!.damaged).toContain('the record is missing');
  });

  it('knows every type of event', () => {
    const types = Object.keys(SHAPES);
    const read = types.map((type) => {
      const parsed = parseCall(JOURNAL, ['dump', '--type', type]);
      return 'help' in parsed ? undefined : callOf(parsed, 3).dump.type;
    });
    expect(read).toEqual(types);
  });

  it('ends when the reader closes the pipe', async () => {
    const child = spawn(process.execPath, ['tools/run.mjs', 'apps/cli/main.js', 'journal', 'dump'], {
      env: { PATH: process.env.PATH, DATABASE_URL: database.url },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

it.each([
  ['', 64, 'expected one of'],
  ['erase', 64, 'expected one of'],
  ['verify --type X', 64, 'verify has no --type'],
  ['dump --shard 7', 64, 'there are shards 0 to 2'],
  ['dump --type QUOTE_SUBMITED', 64, '--type is one of AUCTION_OPENED, QUOTE_SUBMITTED, QUOTE_REVISED,'],
  ['dump --type toString', 64, '--type is one of'],
  ['dump --from 0', 64, 'sequences are numbers from 1 on'],
  ['copy --from kafka', 64, 'copy needs'],
  ['copy --from kafka --to kafka', 64, 'copy needs'],
  ['verify --store kafka', 78, 'KAFKA_BROKERS is not set'],
])('npm run journal -- %s: exit code %d, %s', async (args, code, message) => {
  expect(await journal(args)).toMatchObject({ code, errors: expect.stringContaining(message) });
});

it('a silent database or Kafka gives one line and exit code 69', async () => {
  const away = await journal('verify', { DATABASE_URL: 'postgres://sotto@127.0.0.1:1/none' });
  expect([away.code, away.errors.trim().split('\n')]).toEqual([
    69,
    [expect.stringContaining('ECONNREFUSED')],
  ]);
  const env = { DATABASE_URL: database.url, KAFKA_BROKERS: '127.0.0.1:1' };
  expect(await journal('verify --store kafka', env)).toMatchObject({ code: 69 });
  expect(await journal('copy --from postgres --to kafka', env)).toMatchObject({ code: 69 });
});

interface Line {
  readonly shard: number;
  readonly sequence: number;
  readonly epoch: number;
  readonly kind: EntryKind;
  readonly previous_hash: string;
  readonly hash: string;
  readonly payload: unknown;
  readonly damaged?: string;
}

function linesOf(output: string): Line[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** What a writer of the table can do who knows how hashes are made. */
async function rewriteRecords(records: readonly JournalEntry[]): Promise<void> {
  let previousHash = beforeFirst('auction').hash;
  for (const record of records) {
    const hash = recordHash({ ...record, previousHash });
    await database.pool.query(
      `update journal.records set payload = $2, hash = decode($3, 'hex') where sequence = $1`,
      [record.sequence, record.payload, hash],
    );
    previousHash = hash;
  }
}

describe('the output of npm run journal', () => {
  /** Runs the command in a shell. */
  async function runInShell(shell: string): Promise<[number | null, string]> {
    const child = spawn('/bin/bash', ['-c', shell, process.execPath], {
      env: { PATH: process.env.PATH, DATABASE_URL: database.url },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const printed: string[] = [];
    child.stderr.on('data', (chunk) => printed.push(String(chunk)));
    const [code] = (await once(child, 'close')) as [number | null];
    return [code, printed.join('')];
  }

  it.each(['dump --shard 0', 'verify --output json', 'verify'])(
    'is reported as lost when the disk is full: %s',
    async (args) => {
      const [code, printed] = await runInShell(`"$0" dist/apps/cli/main.js journal ${args} > /dev/full`);
      expect([code, printed]).toEqual([69, expect.stringContaining('no space left on the device')]);
      expect(printed).not.toContain('    at ');
    },
  );

  it('is no fault when the reader stops early', async () => {
    const dump = '"$0" dist/apps/cli/main.js journal dump --raw';
    expect(await runInShell(`${dump} | head -1; exit "\${PIPESTATUS[0]}"`)).toEqual([0, '']);
  });
});
