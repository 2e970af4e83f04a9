import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { replyFor } from '../rules/told/command-reply.js';
import type { AuctionEvent, Placed } from '../rules/events.js';
import { evolve } from '../rules/evolve/evolve.js';
import { quotesFor } from '../rules/told/award-view.js';
import { quoteView } from '../rules/told/quote-view.js';
import type { AuctionState } from '../rules/state.js';
import { timeline } from '../rules/told/timeline.js';
import { auctionView } from '../rules/told/view.js';
import { completionFor, isOverFor, statusFor, type Viewer, viewerOf } from '../rules/told/viewer.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { randomSession, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { CompletedReader } from './completed-reader.js';
import { decodeBatch } from './decoded-batch.js';
import { projectionMigrations } from './migrations/list.js';
import { auctionProjection } from './projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';

jest.setTimeout(60_000);

const SHARD = 0;
const { records } = randomSession(21, 80, SHARD);
const { ofAuctions, ofShard } = decodeBatch(records);
const STRANGER = uuidNamed('stranger');
const ACCOUNTS = ['olga', 'mia', 'max', 'moe', 'may'].map((name) => uuidNamed(name));

interface Told {
  readonly id: string;
  readonly events: Placed<AuctionEvent>[];
  readonly state: AuctionState;
}

let database: TestDatabase;
let reader: CompletedReader;
const auctions = told();

beforeAll(async () => {
  database = await createTestDatabase(projectionMigrations);
  reader = new CompletedReader(database.pool);
  await project();
});
afterAll(() => database.drop());

async function project(): Promise<void> {
  const ports = { inTransaction: transactionsOf(database.pool), clock: new SystemClock() };
  await new Projector(auctionProjection, ports).take(SHARD, records);
}

/** What the pure rules make of the same journal. */
function told(): Told[] {
  const found = new Map<string, Told>();
  for (const { entry, event } of ofAuctions) {
    const placed = { position: entry.sequence, event };
    const before = found.get(event.auction_id);
    const events = [...(before?.events ?? []), placed];
    found.set(event.auction_id, { id: event.auction_id, events, state: evolve(before?.state, placed) });
  }
  return [...found.values()];
}

/** Everybody's every auction, over or not. */
function* everyView(): Generator<Told & { readonly viewer: Viewer; readonly isOver: boolean }> {
  for (const auction of auctions) {
    for (const account of ACCOUNTS) {
      const viewer = viewerOf(auction.state, account)!;
      yield { ...auction, viewer, isOver: isOverFor(auction.state, viewer) };
    }
  }
}

describe('one completed auction', () => {
  it('is what the rules show of it, to those for whom it is over and to nobody else', async () => {
    let shown = 0;
    for (const { id, state, viewer, isOver } of everyView()) {
      const found = await reader.auction(id, viewer.account_id);
      const role = await reader.roleOn(id, viewer.account_id);
      if (!isOver) {
        expect([found, role]).toEqual([undefined, undefined]);
        continue;
      }
      shown += 1;
      expect(role).toBe(viewer.role);
      expect(found).toEqual({
        view: JSON.stringify(auctionView(state, viewer)),
        completedAsOf: completionFor(state, viewer),
      });
    }
    expect(shown).toBeGreaterThan(150);
    expect(shown).toBeLessThan(auctions.length * ACCOUNTS.length);
  });

  it('is hidden from strangers like one that never was', async () => {
    const [{ id }] = auctions as [Told];
    for (const [auctionId, account] of [
      [id, STRANGER],
      [uuidNamed('never'), ACCOUNTS[0]!],
    ] as const) {
      expect(await reader.auction(auctionId, account)).toBeUndefined();
      expect(await reader.events(auctionId, account, 0, 10)).toBeUndefined();
      expect(await reader.quotesOf(auctionId, account)).toBeUndefined();
      expect(await reader.roleOn(auctionId, account)).toBeUndefined();
    }
  });

  it('shows the quotes that the rules show', async () => {
    let quotes = 0;
    for (const { id, state, viewer, isOver } of everyView()) {
      const found = await reader.quotesOf(id, viewer.account_id);
      expect(found).toEqual(isOver ? quotesFor(state, viewer) : undefined);
      quotes += found?.length ?? 0;
    }
    expect(quotes).toBeGreaterThan(100);
  });
});

describe('the timeline of a completed auction', () => {
  it('is complete, however it is cut into pages', async () => {
    for (const { id, events, state, viewer, isOver } of everyView()) {
      if (!isOver) continue;
      const { entries } = timeline(events, viewer);
      const pages: object[] = [];
      let after: number | undefined = 0;
      while (after !== undefined) {
        const page = await reader.events(id, viewer.account_id, after, 3);
        if (page === undefined || page === 'incomplete') throw new Error(`no page after ${after}`);
        expect(page).toMatchObject({
          auction_id: id,
          role: viewer.role,
          status: statusFor(state, viewer),
          complete: true,
        });
        pages.push(...page.events);
        after = page.next_after_seq;
      }
      expect(pages).toEqual(entries);
    }
  });

  it('is not told when a part of the history is missing', async () => {
    const { id, events, viewer } = [...everyView()].find(
      ({ isOver, events: all }) => isOver && all.length > 4,
    )!;
    for (const position of [events[0]!, events[2]!, events.at(-1)!].map((placed) => placed.position)) {
      await database.pool.query('begin; create table public.kept as select * from auction_history.events');
      await database.pool.query('commit');
      try {
        await database.pool.query('delete from auction_history.events where sequence = $1', [position]);
        expect(await reader.events(id, viewer.account_id, 0, 10)).toBe('incomplete');
      } finally {
        await database.pool.query('truncate auction_history.events');
        await database.pool.query('insert into auction_history.events select * from public.kept');
        await database.pool.query('drop table public.kept');
      }
      expect(await reader.events(id, viewer.account_id, 0, 10)).toMatchObject({ complete: true });
    }
  });
});

describe('lists', () => {
  it.each([2, 100])('of completed auctions hold each once, newest first, in pages of %i', async (limit) => {
    for (const account of ACCOUNTS) {
      const wanted = [...everyView()]
        .filter(({ viewer, isOver }) => isOver && viewer.account_id === account)
        .map(({ id, state, viewer }) => [
          state.terms.opened_at,
          id,
          JSON.stringify(auctionView(state, viewer)),
        ])
        .sort(newestFirst);
      const found: (readonly [string, string, string])[] = [];
      for (;;) {
        const last = found.at(-1);
        const page = await reader.page(account, limit, last && { o: last[0], i: last[1] });
        found.push(...page);
        if (page.length < limit) break;
      }
      expect(found).toEqual(wanted);
    }
  });

  it.each([undefined, 'SETTLED', 'WITHDRAWN'])(
    "of a maker's quotes hold each once, newest first (status %s)",
    async (status) => {
      let all = 0;
      for (const account of ACCOUNTS) {
        const wanted = auctions
          .flatMap(({ state }) =>
            state.books.flatMap((book) => book.quotes).map((quote) => ({ state, quote })),
          )
          .filter(({ quote }) => quote.maker === account && (status === undefined || quote.status === status))
          .map(({ state, quote }) => [
            quote.submitted_at,
            quote.quote_id,
            quote.status,
            JSON.stringify(quoteView(state, quote)),
          ])
          .sort(newestFirst);
        const found: (readonly [string, string, string, string])[] = [];
        for (;;) {
          const last = found.at(-1);
          const page = await reader.quotes(account, status, 4, last && { s: last[0], i: last[1] });
          found.push(...page);
          if (page.length < 4) break;
        }
        expect(found).toEqual(wanted);
        all += found.length;
      }
      expect(all).toBeGreaterThan(3);
    },
  );

  it('take a cursor that lies past every time', async () => {
    const all = await reader.page(ACCOUNTS[0]!, 500);
    const mark = { o: '9999-12-31T23:59:59.999999999Z', i: uuidNamed('x') };
    expect(await reader.page(ACCOUNTS[0]!, 500, mark)).toEqual(all);
    expect(await reader.page(ACCOUNTS[0]!, 500, { ...mark, o: '0001-01-01T00:00:00.000000000Z' })).toEqual(
      [],
    );
  });
});

describe('first answers', () => {
  it('on an auction are those that the rules give again, to their own caller alone', async () => {
    let answered = 0;
    for (const { id, events } of auctions) {
      for (const { event, position } of events) {
        if (event.command === undefined) continue;
        const { account_id: account, operation, key, content } = event.command;
        const { status, body } = replyFor(events, position);
        const scope = { account, operation, key, auctionId: id };
        expect(await reader.answer(scope)).toEqual({
          position,
          content,
          reply: { status, body: JSON.stringify(body) },
        });
        expect(await reader.answer({ ...scope, account: STRANGER })).toBeUndefined();
        expect(await reader.answer({ ...scope, operation: 'CANCEL' })).toBeUndefined();
        expect(await reader.answer({ ...scope, auctionId: uuidNamed('never') })).toBeUndefined();
        answered += 1;
      }
    }
    expect(answered).toBeGreaterThan(200);
  });

  it('of a shard are the last ones of their name, of that shard alone', async () => {
    const answers = ofShard.flatMap(({ event, entry: { sequence: position } }) =>
      event.type === 'CREATE_REJECTED' || event.type === 'ALL_WITHDRAWN' ? [{ ...event, position }] : [],
    );
    const marks = new Map(answers.map((event) => [`${event.type}/${event.command!.key}`, event]));
    expect(marks.size).toBeLessThan(answers.length);
    expect(answers.length).toBeLessThan(ofShard.length);
    for (const { command, type, data, position } of marks.values()) {
      const { account_id: account, operation, key, content } = command!;
      const create = type === 'CREATE_REJECTED';
      const scope = create
        ? { account, operation, key, auctionId: data.auction_id }
        : { account, operation, key, shard: SHARD };
      const body = create
        ? { error: data.error, message: data.message }
        : { withdrawn: data.withdrawn, not_withdrawable: data.not_withdrawable };
      const reply = { status: create ? 422 : 200, body: JSON.stringify(body) };
      expect(await reader.answer(scope)).toEqual({ position, content, reply });
      if (!create) expect(await reader.answer({ ...scope, shard: 1 })).toBeUndefined();
    }
  });

  it('of creates are each its own, however many are asked for at once', async () => {
    const made = auctions.flatMap(({ id, events }) =>
      events.flatMap(({ event: { command } }) =>
        command?.operation === 'CREATE'
          ? [{ account: command.account_id, key: command.key, auctionId: id }]
          : [],
      ),
    );
    const refused = ofShard.flatMap(({ event }) =>
      event.type === 'CREATE_REJECTED'
        ? [{ account: event.command!.account_id, key: event.command!.key, auctionId: event.data.auction_id }]
        : [],
    );
    const unknown = made.map((scope) => ({ ...scope, key: `${scope.key}-never` }));
    const asked = made.flatMap((scope, index) => [
      unknown[index]!,
      scope,
      ...refused.slice(index, index + 1),
    ]);
    expect(made.length).toBeGreaterThan(2);
    expect(refused.length).toBeGreaterThan(0);
    const one = (scope: (typeof made)[number]): ReturnType<typeof reader.answer> =>
      reader.answer({ ...scope, operation: 'CREATE' });
    const together = await Promise.all(asked.map(one));
    const apart = [];
    for (const scope of asked) apart.push(await one(scope));
    expect(together).toEqual(apart);
    expect(together.map((answer) => answer?.reply.status)).toEqual(
      asked.map((scope) => (unknown.includes(scope) ? undefined : refused.includes(scope) ? 422 : 200)),
    );
  });

  it('belong to a scope, and the reader says so when it is missing', async () => {
    const scope = { account: STRANGER, key: 'k' };
    await expect(reader.answer({ ...scope, operation: 'WITHDRAW_ALL' })).rejects.toThrow('within its shard');
    await expect(reader.answer({ ...scope, operation: 'SUBMIT' })).rejects.toThrow('within its auction');
    await expect(reader.answer({ ...scope, operation: 'CREATE' })).rejects.toThrow('within its auction');
  });
});

describe('small questions', () => {
  it('say whose a quote is, in which auction', async () => {
    const { id, state } = auctions.find(({ state: { books } }) =>
      books.some((book) => book.quotes.length > 0),
    )!;
    const quote = state.books.flatMap((book) => book.quotes)[0]!;
    const other = auctions.find((auction) => auction.id !== id)!.id;
    expect(await reader.ownsQuote(id, quote.quote_id, quote.maker)).toBe(true);
    expect(await reader.ownsQuote(other, quote.quote_id, quote.maker)).toBe(false);
    expect(await reader.ownsQuote(id, quote.quote_id, STRANGER)).toBe(false);
    expect(await reader.ownsQuote(id, uuidNamed('never'), quote.maker)).toBe(false);
  });

  it('say how far the projections have come', async () => {
    expect(await reader.position(SHARD)).toBe(records.length);
    expect(await reader.position(2)).toBe(0);
  });
});

function newestFirst(a: readonly string[], b: readonly string[]): number {
  if (a[0] !== b[0]) return a[0]! > b[0]! ? -1 : 1;
  return a[1]! > b[1]! ? -1 : 1;
}
