import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AuctionEvent, Placed } from '../../rules/events.js';
import { evolve } from '../../rules/evolve/evolve.js';
import type { AuctionState } from '../../rules/state.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { randomSession, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { decodeBatch } from '../decoded-batch.js';
import { projectionMigrations } from '../migrations/list.js';
import { auctionProjection } from '../projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { AuditReader, type AuditRow, type AuditedAuction } from './audit-reader.js';
import { provedByJournal } from './journal-proof.js';
import { auditReads, AuditReadLog } from './read-log.js';

jest.setTimeout(60_000);

const SHARD = 1;
const journal = randomSession(33, 60, SHARD);
const AUDITOR = uuidNamed('auditor');

interface Replayed {
  readonly events: readonly Placed<AuctionEvent>[];
  readonly state: AuctionState;
}

let database: TestDatabase;
let reader: AuditReader;
const auctions = replayed();
const completed = [...auctions].filter(([, { state }]) => state.completed_at !== undefined);

beforeAll(async () => {
  database = await createTestDatabase(projectionMigrations);
  reader = new AuditReader(database.pool);
  const ports = { inTransaction: transactionsOf(database.pool), clock: new SystemClock() };
  await new Projector(auctionProjection, ports).take(SHARD, journal.records);
});
afterAll(() => database.drop());

function replayed(): Map<string, Replayed> {
  const found = new Map<string, Replayed>();
  for (const { entry, event } of decodeBatch(journal.records).ofAuctions) {
    const placed = { position: entry.sequence, event };
    const before = found.get(event.auction_id);
    found.set(event.auction_id, {
      events: [...(before?.events ?? []), placed],
      state: evolve(before?.state, placed),
    });
  }
  return found;
}

async function audited(id: string): Promise<AuditedAuction> {
  const found = await reader.auction(id);
  if (found === undefined || found === 'incomplete') throw new Error(`${id} is ${found ?? 'not there'}`);
  return found;
}

/** Changes a stored row, runs `check`, and restores the row. */
async function whileChanged(change: string, id: string, position: number, check: () => Promise<void>) {
  const { pool } = database;
  await pool.query('create table public.kept as select * from auction_history.events');
  try {
    await pool.query(change, [id, position]);
    await check();
  } finally {
    await pool.query('truncate auction_history.events');
    await pool.query('insert into auction_history.events select * from public.kept');
    await pool.query('drop table public.kept');
  }
}

describe('the list for auditors', () => {
  it.each([7, 50])(
    'has every completed auction once and no other, newest first, in pages of %i',
    async (limit) => {
      const wanted = completed
        .map(([id, { state }]): AuditRow => ({
          auction_id: id,
          status: state.status,
          opened_at: state.terms.opened_at,
          completed_at: state.completed_at!,
        }))
        .sort((a, b) => (`${a.opened_at}${a.auction_id}` > `${b.opened_at}${b.auction_id}` ? -1 : 1));
      const found: AuditRow[] = [];
      for (;;) {
        const last = found.at(-1);
        const page = await reader.page(limit, last && { o: last.opened_at, i: last.auction_id });
        found.push(...page);
        if (page.length < limit) break;
      }
      expect(found).toEqual(wanted);
      expect(completed.length).toBeGreaterThan(20);
      expect(completed.length).toBeLessThan(auctions.size);
    },
  );
});

describe('a completed auction', () => {
  it('has the events and the state of the journal, and the journal proves it', async () => {
    for (const [id, { events, state }] of completed) {
      const found = await audited(id);
      expect(found.state).toEqual(state);
      expect(found.events.map(({ position, event }) => ({ position, event }))).toEqual(events);
      expect(await provedByJournal(found, journal)).toEqual(
        new Map(events.map(({ position }) => [position, 1])),
      );
    }
  });

  it('is not found while it is live, and neither is an unknown one', async () => {
    const live = [...auctions].filter(([, { state }]) => state.completed_at === undefined);
    for (const [id] of live) expect(await reader.auction(id)).toBeUndefined();
    expect(await reader.auction(uuidNamed('never', SHARD))).toBeUndefined();
    expect(live.length).toBeGreaterThan(5);
  });

  it('is incomplete when any of its records is missing, unreadable or not its own', async () => {
    const [id, { events }] = completed.find(([, one]) => one.events.length > 4)!;
    const positions = [events[0]!, events[2]!, events.at(-1)!].map(({ position }) => position);
    for (const change of [
      'delete from auction_history.events where auction_id = $1 and sequence = $2',
      `update auction_history.events set payload = '{}' where auction_id = $1 and sequence = $2`,
      'update auction_history.events set sequence = sequence + 1000000 where auction_id = $1 and sequence = $2',
    ]) {
      for (const position of change.includes('sequence = sequence') ? positions.slice(-1) : positions)
        await whileChanged(change, id, position, async () => {
          expect(await reader.auction(id)).toBe('incomplete');
        });
    }
    await audited(id);
  });

  it('is not proved if the projection differs from the journal, however little', async () => {
    const [id, { events }] = completed.find(([, one]) => one.events.length > 4)!;
    const opened = events[0]!.position;
    for (const change of [
      `update auction_history.events set payload = replace(payload, '"BUY"', '"BUY" ') || ' ' where auction_id = $1 and sequence = $2`,
      `update auction_history.events set hash = decode(repeat('ab', 32), 'hex') where auction_id = $1 and sequence = $2`,
    ])
      await whileChanged(change, id, opened, async () => {
        expect(await provedByJournal(await audited(id), journal)).toBe('incomplete');
      });
  });
});

describe('the record of what auditors read', () => {
  it('is found by reader and by auction, the latest first', async () => {
    const log = new AuditReadLog(database.pool, 'gateway-7');
    const [a, b] = [uuidNamed('a'), uuidNamed('b')];
    await log.record({ readerId: AUDITOR, requestId: 'r1', what: 'LIST', auctionIds: [a, b], status: 200 });
    await log.record({ readerId: AUDITOR, requestId: 'r2', what: 'AUCTION', auctionIds: [b], status: 404 });
    await log.record({ readerId: a, requestId: 'r3', what: 'BUNDLE', auctionIds: [a], status: 503 });
    const ids = async (
      ...args: Parameters<typeof auditReads> extends [unknown, ...infer Rest] ? Rest : never
    ) => (await auditReads(database.pool, ...args)).map(({ requestId }) => requestId);
    expect(await ids(10)).toEqual(['r3', 'r2', 'r1']);
    expect(await ids(10, { readerId: AUDITOR })).toEqual(['r2', 'r1']);
    expect(await ids(10, { auctionId: a })).toEqual(['r3', 'r1']);
    const [latest] = await auditReads(database.pool, 1);
    expect(latest).toMatchObject({
      gateway: 'gateway-7',
      what: 'BUNDLE',
      status: 503,
      readAt: expect.any(Date),
    });
    expect(await ids(1, { before: latest!.readId })).toEqual(['r2']);
  });

  it.each(['update audit.reads set status = 404', 'delete from audit.reads', 'truncate audit.reads'])(
    'refuses: %s',
    async (change) => {
      const before = await auditReads(database.pool, 100);
      await expect(database.pool.query(change)).rejects.toThrow('reads is append-only');
      expect(await auditReads(database.pool, 100)).toEqual(before);
    },
  );
});
