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

interface Replayed {
  readonly id: string;
  readonly events: Placed<AuctionEvent>[];
  readonly state: AuctionState;
}

let database: TestDatabase;
let reader: CompletedReader;
const auctions = replayed();

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

/** The auctions that follow from the same journal by the rules alone. */
function replayed(): Replayed[] {
  const found = new Map<string, Replayed>();
  for (const { entry, event } of ofAuctions) {
    const placed = { position: entry.sequence, event };
    const before = found.get(event.auction_id);
    const events = [...(before?.events ?? []), placed];
    found.set(event.auction_id, { id: event.auction_id, events, state: evolve(before?.state, placed) });
  }
  return [...found.values()];
}

/** Every auction of every account, over or not. */
function* everyView(): Generator<Replayed & { readonly viewer: Viewer; readonly isOver: boolean }> {
  for (const auction of auctions) {
    for (const account of ACCOUNTS) {
      const viewer = viewerOf(auction.state, account)!;
      yield { ...auction, viewer, isOver: isOverFor(auction.state, viewer) };
    }
  }
}

describe('one completed auction', () => {
  it('is shown as the rules say, only to parties for whom it is over', async () => {
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

  it('is hidden from strangers like an unknown auction', async () => {
    const [{ id }] = auctions as [Replayed];
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

  it('is incomplete if a part of the history is missing', async () => {
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
  it.each([2, 100])(
    'of completed auctions have each one once, newest first, in pages of %i',
    async (limit) => {
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
    },
  );

  it.each([undefined, 'SETTLED', 'WITHDRAWN'])(
    "of a maker's quotes have each one once, newest first (status %s)",
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

  it('accept a cursor beyond every time', async () => {
    const all = await reader.page(ACCOUNTS[0]!, 500);
    const cursor = { o: '9999-12-31T23:59:59.999999999Z', i: uuidNamed('x') };
    expect(await reader.page(ACCOUNTS[0]!, 500, cursor)).toEqual(all);
    expect(await reader.page(ACCOUNTS[0]!, 500, { ...cursor, o: '0001-01-01T00:00:00.000000000Z' })).toEqual(
      [],
    );
  });
});

describe('first replies', () => {
  it('on an auction equal those of the rules, and are found only for their own caller', async () => {
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

  it('of a shard are the latest ones of their key, and of that shard alone', async () => {
    const answers = ofShard.flatMap(({ event, entry: { sequence: position } }) =>
      event.type === 'CREATE_REJECTED' || event.type === 'ALL_WITHDRAWN' ? [{ ...event, position }] : [],
    );
    const latest = new Map(answers.map((event) => [`${event.type}/${event.command!.key}`, event]));
    expect(latest.size).toBeLessThan(answers.length);
    expect(answers.length).toBeLessThan(ofShard.length);
    for (const { command, type, data, position } of latest.values()) {
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

  it('of creates are the right ones, however many are looked up at once', async () => {
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

  it('need a scope, and the reader throws if it is missing', async () => {
    const scope = { account: STRANGER, key: 'k' };
    await expect(reader.answer({ ...scope, operation: 'WITHDRAW_ALL' })).rejects.toThrow('within its shard');
    await expect(reader.answer({ ...scope, operation: 'SUBMIT' })).rejects.toThrow('within its auction');
    await expect(reader.answer({ ...scope, operation: 'CREATE' })).rejects.toThrow('within its auction');
  });
});

describe('other reads', () => {
  it('return whether an account owns a quote in an auction', async () => {
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

  it('return the offset of the projections', async () => {
    expect(await reader.position(SHARD)).toBe(records.length);
    expect(await reader.position(2)).toBe(0);
  });
});

function newestFirst(a: readonly string[], b: readonly string[]): number {
  if (a[0] !== b[0]) return a[0]! > b[0]! ? -1 : 1;
  return a[1]! > b[1]! ? -1 : 1;
}
