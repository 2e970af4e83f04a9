import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { evolve } from '../../rules/evolve/evolve.js';
import { type AuctionState, isLive } from '../../rules/state.js';
import { decodeEvent } from '../../rules/event-versions.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { eventually } from '#libs/testing/eventually.js';
import { expectedHolds } from '#libs/testing/auctions/holds.js';
import { LiveShard, SEALS } from '#libs/testing/shards/shard-fixture.js';
import { submitOrder } from '#libs/testing/shards/shard-orders.js';
import { anyRounds, type Deed, ShardSession, type Told } from '#libs/testing/shards/shard-session.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';
import type { LostAppend } from '#libs/testing/journals/steered-writer.js';
import { nextDue } from '../memory/auction-book.js';

/** Allows for a busy machine. */
jest.setTimeout(60_000);

const ROUNDS = 12;
const SNAPSHOTS_OFTEN = { settings: { snapshotEvery: 10 } };

let world: ShardWorld;
let live: LiveShard;

beforeEach(async () => {
  world = await ShardWorld.open();
  live = await LiveShard.open(world, 0, SNAPSHOTS_OFTEN);
});
afterEach(() => world.close());

/** The states that follow from the journal alone. */
async function journaled(): Promise<Map<string, AuctionState>> {
  const states = new Map<string, AuctionState>();
  for (const record of await new PostgresJournalReader(world.database.pool, 'auction').read(0, 1, 100_000)) {
    if (record.kind !== 'event') continue;
    const event = decodeEvent(record.payload);
    if (!('auction_id' in event)) continue;
    const before = states.get(event.auction_id);
    states.set(event.auction_id, evolve(before, { position: record.sequence, event }));
  }
  return states;
}

function inMemory(shard: LiveShard): Map<string, AuctionState> {
  return new Map([...shard.shard.book.all()].map(({ id, durable }) => [id, durable!]));
}

/**
 * The process ends while its last commands are in flight. No caller may have a reply to them, except replies that rest only on
 * what was durable before. Those are returned.
 */
async function diesWith(session: ShardSession, last: readonly Deed[], what: LostAppend): Promise<Told[]> {
  const before = session.told.length;
  live.writer.hold();
  live.writer.loseNext(what);
  for (const asked of session.begin(last)) void asked;
  await new Promise((resolve) => setTimeout(resolve, 30));
  live.writer.letGo();
  await new Promise((resolve) => setTimeout(resolve, 30));
  live.kill();
  const unanswered = session.told.slice(before).filter(({ answer }) => answer === undefined);
  if (live.failures.length > 0) expect(unanswered.length).toBeGreaterThan(0);
  const replied = session.told.slice(before).filter(({ answer }) => answer !== undefined);
  for (const { answer } of replied) expect([409, 503]).toContain(answer?.status);
  return replied;
}

async function quietlyDies(): Promise<Told[]> {
  // Releases are written after the replies.
  await eventually(() => expect(live.desk.totals().unwritten).toBe(0));
  live.kill();
  return [];
}

const LOSSES = [undefined, 'written', 'not written'] as const;

describe('a new process', () => {
  it.each(LOSSES)(
    'has exactly what was acknowledged, and anything else that was written (last append: %s)',
    async (loss) => {
      const [rounds = [], last = []] =
        fc.sample(fc.tuple(anyRounds(ROUNDS), anyRounds(1)), {
          seed: LOSSES.indexOf(loss) + 1,
          numRuns: 1,
        })[0] ?? [];
      const session = new ShardSession(live);
      for (const round of rounds) await session.round(round);
      const acknowledged = inMemory(live);
      const replied = loss === undefined ? await quietlyDies() : await diesWith(session, last.flat(), loss);

      live = await LiveShard.open(world, 0, SNAPSHOTS_OFTEN);
      const expected = await journaled();
      expect(inMemory(live)).toEqual(expected);
      if (loss !== 'written') expect(inMemory(live)).toEqual(acknowledged);
      expect(await world.reservedBy(0)).toEqual(expectedHolds(expected.values()));

      session.continueWith(live);
      // The commands of that round had no effect, so a caller that got a conflict gets it again.
      for (const { order, answer } of loss === 'not written' ? replied : []) {
        if (answer?.status === 409) expect(await live.ask(order)).toEqual(answer);
      }
      for (const { order, answer } of session.told) {
        if (answer === undefined || ![200, 201, 422].includes(answer.status)) continue;
        const first = { status: answer.status === 201 ? 200 : answer.status, text: answer.text };
        expect(await live.ask(order)).toMatchObject(first);
      }
      // Work continues, and all auctions end as they should.
      for (const round of rounds.slice(0, 4)) await session.round(round);
      await live.leap(65_000);
      await eventually(() => {
        for (const { durable } of live.shard.book.all()) expect(durable?.status).not.toBe('OPEN');
      });
      await live.leap(120_000);
      await eventually(() => {
        for (const { durable } of live.shard.book.all()) expect(isLive(durable!.status)).toBe(false);
      });
      await eventually(async () => expect(await world.reservedBy(0)).toEqual({}));
      await live.stop();
    },
  );

  it('is the same from a snapshot as from the journal alone', async () => {
    const rounds = fc.sample(anyRounds(ROUNDS), { seed: 7, numRuns: 1 })[0]!;
    const session = new ShardSession(live);
    for (const round of rounds) await session.round(round);
    await nothingFallsDue();
    await live.stop();
    const { rows } = await world.database.pool.query(
      'select sequence from journal.snapshots where shard = 0',
    );
    expect(rows.length).toBeGreaterThan(0);
    live = await LiveShard.open(world);
    const short = entriesOf(live);
    await live.stop();
    await world.database.pool.query('delete from journal.snapshots');
    live = await LiveShard.open(world);
    expect(short).toEqual(entriesOf(live));
    await live.stop();
  });

  /** Until the end of the test, neither of the two processes has anything due. */
  async function nothingFallsDue(): Promise<void> {
    await eventually(() => {
      for (const state of inMemory(live).values())
        expect((nextDue(state) ?? world.in(1)) > world.now()).toBe(true);
    });
    world.clock.stopAtEpoch(world.clock.epochNanos());
  }

  function entriesOf(shard: LiveShard) {
    const entries = [...shard.shard.book.all()].map(({ dueAt, ...entry }) => ({
      ...entry,
      isWatched: dueAt !== undefined,
    }));
    return entries.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  it('closes auctions that became due while no process ran', async () => {
    const auctionId = await live.opens();
    await live.ask(
      submitOrder(accountOf('mia'), auctionId, { price_atoms: 500_000, quantity_atoms: 1_000_000 }),
    );
    await quietlyDies();
    world.clock.leap(90_000);
    live = await LiveShard.open(world);
    await eventually(() => expect(inMemory(live).get(auctionId)?.status).toBe('AWARDED'));
    const { closed_at: closedAt, terms } = inMemory(live).get(auctionId)!;
    expect(closedAt).toBe(terms.closes_at);
    await live.stop();
  });

  describe('with a journal that ends within a decision', () => {
    const CLOSED = { type: 'AUCTION_CLOSED', data: {} };

    it.each([
      ['the award', 'AWARDED', [CLOSED]],
      [
        'the completion of what was cancelled',
        'CANCELLED',
        [{ type: 'AUCTION_CANCELLED', data: { by: 'ORIGINATOR' } }],
      ],
    ])('completes it with %s', async (_what, status, part) => {
      const auctionId = await live.opens();
      const terms = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
      await live.ask(submitOrder(accountOf('mia'), auctionId, terms));
      await quietlyDies();
      await writes(auctionId, part);
      world.clock.leap(60_001);
      live = await LiveShard.open(world);
      const ended = status === 'AWARDED' ? {} : { completed_at: expect.any(String) };
      await eventually(() => expect(inMemory(live).get(auctionId)).toMatchObject({ status, ...ended }));
      expect(inMemory(live)).toEqual(await journaled());
      await eventually(async () =>
        expect(await world.reservedBy(0)).toEqual(expectedHolds(inMemory(live).values())),
      );
      await live.stop();
    });

    async function writes(auctionId: string, events: readonly object[]): Promise<void> {
      const { terms } = inMemory(live).get(auctionId)!;
      const { url } = world.database;
      const journal = new PostgresJournal({
        family: 'auction',
        url,
        clock: world.clock,
        opener: 'half',
        seals: SEALS,
      });
      const writer = await journal.open(0);
      const recorded = { version: 1, at: terms.closes_at, auction_id: auctionId };
      await writer.append(events.map((event) => JSON.stringify({ ...recorded, ...event })));
      await writer.close();
    }
  });
});

describe('a process that can write the table of snapshots', () => {
  const TERMS = { quantity_atoms: 10_000_000 };

  /** Two makers quote, and the later snapshots are changed so that the dearer quote looks cheaper. */
  async function dearQuoteLooksCheap(): Promise<string> {
    await live.stop();
    live = await LiveShard.open(world, 0, { settings: { snapshotEvery: 1 } });
    const auctionId = await live.opens('olga', { allocation: 'SINGLE_WINNER' });
    for (const [maker, price] of [
      ['mia', 400_000],
      ['max', 500_000],
    ] as const) {
      await snapshotIsKept();
      await live.ask(submitOrder(accountOf(maker), auctionId, { ...TERMS, price_atoms: price }));
    }
    await snapshotIsKept();
    await quietlyDies();
    const { pool } = world.database;
    const { rows } = await pool.query<{ sequence: number; body: Buffer }>(
      'select sequence, body from journal.snapshots where shard = 0',
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const { sequence, body } of rows) {
      // Byte for byte, so that everything in between stays where it is.
      const forged = Buffer.from(body.toString('latin1').replaceAll('500000', '300000'), 'latin1');
      await pool.query('update journal.snapshots set body = $2 where shard = 0 and sequence = $1', [
        sequence,
        forged,
      ]);
    }
    expect(rows.map(({ body }) => body.toString('latin1')).join('')).toContain('500000');
    return auctionId;
  }

  /**
   * Waits for the snapshot of the journal's last record. Only one is written at a time, so a record that comes meanwhile is in
   * the next one.
   */
  async function snapshotIsKept(attempts = 5): Promise<void> {
    const kept = eventually(async () => {
      const text = 'select max(sequence) as last from journal.snapshots where shard = 0';
      const { rows } = await world.database.pool.query<{ last: number }>(text);
      expect(rows[0]?.last).toBe(live.writer.head.sequence);
    }, 3_000);
    if (attempts === 1) return kept;
    try {
      await kept;
    } catch {
      await live.opens('olga');
      await snapshotIsKept(attempts - 1);
    }
  }

  it('cannot decide who wins: the owner reads its journal instead, and reports the forgery', async () => {
    const auctionId = await dearQuoteLooksCheap();
    live = await LiveShard.open(world);
    await live.leap(60_001);
    await eventually(() => expect(inMemory(live).get(auctionId)?.status).toBe('AWARDED'));
    const { awards } = inMemory(live).get(auctionId)!;
    expect(awards.map(({ maker, price_atoms }) => [maker, price_atoms])).toEqual([
      [accountOf('mia'), 400_000],
    ]);
    expect(live.refused.map(({ shard, reason }) => [shard, reason])).toContainEqual([0, 'seal']);
    expect(inMemory(live)).toEqual(await journaled());
    await live.stop();
  });
});

it('announces the end of its journal at its start, and whenever it has moved', async () => {
  await live.stop();
  const heads: number[] = [];
  const announce = ({ head }: { readonly head: number }): unknown => heads.push(head);
  live = await LiveShard.open(world, 0, { ports: { announce } });
  expect(heads).toEqual([live.writer.head.sequence]);
  const auctionId = await live.opens();
  expect(heads.at(-1)).toBe(live.writer.head.sequence);
  // Nothing is announced before it is durable, and a command that writes nothing announces nothing.
  live.writer.hold();
  const terms = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
  const answer = live.ask(submitOrder(accountOf('mia'), auctionId, terms));
  await eventually(() => expect(live.writer.inFlight).toBe(1));
  expect(heads).toHaveLength(2);
  live.writer.letGo();
  expect((await answer).status).toBe(201);
  expect((await live.ask(submitOrder(accountOf('mia'), auctionId, terms))).status).toBe(409);
  expect(heads).toEqual([2, 3, 4]);
  await live.stop();
});

it('reports its status', async () => {
  await live.opens();
  const status = await live.ask({ op: 'shard_status' });
  expect(status).toMatchObject({
    status: 200,
    body: { shard: 0, state: 'ACTIVE', epoch: 1, journal_head: 2, active_auctions: 1, clock_offset_ms: 0 },
  });
  live.shard.conditions.drain();
  expect((await live.ask({ op: 'shard_status' })).body.state).toBe('DRAINING');
  await live.stop();
});
