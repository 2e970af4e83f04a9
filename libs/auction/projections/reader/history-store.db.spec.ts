import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AuctionEvent, Placed } from '../../rules/events.js';
import { evolve } from '../../rules/evolve/evolve.js';
import type { AuctionState } from '../../rules/state.js';
import { isOverFor, viewerOf } from '../../rules/told/viewer.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { AuctionStory, storyTerms } from '#libs/testing/auctions/story.js';
import {
  randomSession,
  realistic,
  uuidNamed,
  WrittenJournal,
} from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { decodeBatch } from '../decoded-batch.js';
import { projectionMigrations } from '../migrations/list.js';
import { auctionProjection } from '../projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import type { WantedHistories } from '../../protocol/histories.js';
import { HISTORY_READS, PostgresHistoryStore } from './history-store.js';

jest.setTimeout(60_000);

const SHARD = 1;
const ACCOUNTS = ['olga', 'mia', 'max', 'moe', 'may', 'stranger'].map((name) => uuidNamed(name));

let database: TestDatabase;
let store: PostgresHistoryStore;

beforeAll(async () => {
  database = await createTestDatabase(projectionMigrations);
  store = new PostgresHistoryStore(database.pool);
});
afterAll(() => database.drop());

async function project({ shard, records }: WrittenJournal): Promise<void> {
  const ports = { inTransaction: transactionsOf(database.pool), clock: new SystemClock() };
  await new Projector(auctionProjection, ports).take(shard, records);
}

async function found(wanted: WantedHistories): Promise<Map<string, Placed<AuctionEvent>[]>> {
  const histories = new Map<string, Placed<AuctionEvent>[]>();
  let last = '';
  for await (const { auctionId, events } of store.histories(wanted)) {
    if (auctionId !== last && histories.has(auctionId)) throw new Error(`${auctionId} comes in two places`);
    last = auctionId;
    histories.set(auctionId, [...(histories.get(auctionId) ?? []), ...events]);
  }
  return histories;
}

describe('the store of a shard', () => {
  const journal = randomSession(33, 60, SHARD);
  const end = journal.records.length;
  const auctions = new Map<string, Placed<AuctionEvent>[]>();
  for (const { entry, event } of decodeBatch(journal.records).ofAuctions) {
    const events = auctions.get(event.auction_id) ?? [];
    auctions.set(event.auction_id, [...events, { position: entry.sequence, event }]);
  }

  beforeAll(() => project(journal));

  function isOverAt(events: readonly Placed<AuctionEvent>[], account: string, position: number): boolean {
    const until = events.filter((placed) => placed.position <= position);
    const state = until.reduce<AuctionState | undefined>(evolve, undefined);
    const viewer = state === undefined ? undefined : viewerOf(state, account);
    return state !== undefined && viewer !== undefined && isOverFor(state, viewer);
  }

  it('returns its offset', async () => {
    expect([await store.position(SHARD), await store.position(2)]).toEqual([end, 0]);
  });

  it.each([0, 120, end])(
    'has the histories of all auctions that became over for an account since record %d, and no others',
    async (openAt) => {
      for (const account of ACCOUNTS) {
        for (const [happenedBehind, upTo] of [
          [openAt, end],
          [openAt, openAt + 25],
          [0, openAt],
        ] as const) {
          const expected = [...auctions].filter(([, events]) => {
            const happened = events.some(({ position }) => position > happenedBehind && position <= upTo);
            return happened && isOverAt(events, account, end) && !isOverAt(events, account, openAt);
          });
          const wanted = { account, shard: SHARD, openAt, happenedBehind, others: [], upTo: () => upTo };
          const histories = await found(wanted);
          expect(new Set(histories.keys())).toEqual(new Set(expected.map(([id]) => id)));
          for (const [id, events] of expected)
            expect(histories.get(id)).toEqual(events.filter(({ position }) => position <= upTo));
        }
      }
    },
  );

  it('adds the requested auctions if they have newer events, and returns each auction once', async () => {
    const [account] = ACCOUNTS as [string];
    const others = [...auctions.keys()];
    const wanted = { account, shard: SHARD, openAt: 50, happenedBehind: 50, others, upTo: () => end };
    const touched = [...auctions].filter(([, events]) => events.some(({ position }) => position > 50));
    expect(new Set((await found(wanted)).keys())).toEqual(new Set(touched.map(([id]) => id)));
  });

  it('returns nothing of other shards', async () => {
    for (const account of ACCOUNTS) {
      const wanted = { account, shard: 2, openAt: 0, happenedBehind: 0, others: [], upTo: () => end };
      expect((await found(wanted)).size).toBe(0);
    }
  });
});

describe('long histories and many auctions', () => {
  const shard = 2;
  const journal = new WrittenJournal(shard);
  const SHORT = 2 * HISTORY_READS.auctions + 10;
  const LONG = 2 * HISTORY_READS.events + 50;

  beforeAll(async () => {
    const write = (name: string, refusals: number): void => {
      const story = new AuctionStory(storyTerms());
      for (let written = 0; written < refusals; written += 1) story.isRefused('mia', 'SUBMIT');
      story.awardsNobody('NO_QUOTES');
      for (const event of realistic(story.events, name, shard, 0)) journal.write(event);
    };
    write('long', LONG);
    for (let written = 0; written < SHORT; written += 1) write(`short ${written}`, 0);
    await project(journal);
  });

  it('come in parts and complete', async () => {
    const end = journal.records.length;
    const wanted = { account: uuidNamed('mia'), shard, openAt: 0, happenedBehind: 0, others: [] };
    const histories = await found({ ...wanted, upTo: () => end });
    expect(histories.size).toBe(SHORT + 1);
    const events = [...histories.values()].flat();
    expect(new Set(events.map(({ position }) => position)).size).toBe(events.length);
    expect(events).toHaveLength(end - 1);
    expect(histories.get(uuidNamed('long', shard))).toHaveLength(LONG + 4);
  });

  it('are not read further if the wanted position decreases', async () => {
    let upTo = journal.records.length;
    const wanted = { account: uuidNamed('mia'), shard, openAt: 0, happenedBehind: 0, others: [] };
    let parts = 0;
    for await (const { events } of store.histories({ ...wanted, upTo: () => upTo })) {
      parts += 1;
      upTo = events.at(-1)?.position ?? 0;
    }
    expect(parts).toBeLessThanOrEqual(HISTORY_READS.together);
  });
});
