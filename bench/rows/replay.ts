import { evolve } from '#libs/auction/rules/evolve/evolve.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import { decodeEvent } from '#libs/auction/rules/event-versions.js';
import { type JournalReader, readAhead } from '#libs/journal/journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { alternating } from '../alternating.js';
import { fillJournal } from '../ground/filled-journal.js';
import type { Ground } from '../ground/ground.js';
import { atLeast, type Row, type RowOutcome, type Settings } from '../row.js';

const SHARD = 1;
const PAGE = 5_000;
const AUCTIONS = 4_000;
const FEW = 20;
/** With opening, quotes and end an auction has about thirty events. */
const LIKE = { quotes: 8, revisions: 2, isOver: true };

/** How fast the states of all auctions are rebuilt from a journal. */
export const replay: Row = {
  name: 'replay',
  title: 'Replay of a journal: read, check hashes, evolve',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const database = await ground.database();
    const count = settings.quick ? FEW : AUCTIONS;
    const last = await fillJournal(database.url, SHARD, { from: 0, count }, LIKE);
    const pool = openPool(database.url, { applicationName: 'bench', max: 2 });
    const reader = new PostgresJournalReader(pool, 'auction');
    const perSecond = async (work: () => Promise<unknown>): Promise<number> => {
      const begun = performance.now();
      await work();
      return (last * 1_000) / (performance.now() - begun);
    };
    const { medians, runs } = await alternating(
      {
        read: () => perSecond(() => readAll(reader, last, () => undefined)),
        decoded: () => perSecond(() => readAll(reader, last, (_, payload) => void decodeEvent(payload))),
        replayed: () => perSecond(() => replayAll(reader, last)),
      },
      settings,
    );
    await pool.end();
    const check = atLeast('events replayed', 'events/s', medians.replayed, {
      minimum: 300_000,
      goal: 1_000_000,
    });
    return { checks: [check], details: { events: last, medians, runs } };
  },
};

async function replayAll(reader: JournalReader, last: number): Promise<Map<string, AuctionState>> {
  const states = new Map<string, AuctionState>();
  await readAll(reader, last, (position, payload) => {
    const event = decodeEvent(payload);
    if (!('auction_id' in event)) return;
    states.set(event.auction_id, evolve(states.get(event.auction_id), { position, event }));
  });
  return states;
}

async function readAll(
  reader: JournalReader,
  last: number,
  take: (position: number, payload: string) => void,
): Promise<void> {
  const pages = readAhead((from) => reader.read(SHARD, from, PAGE), { from: 1, to: last });
  for await (const page of pages) {
    for (const { kind, sequence, payload } of page) if (kind === 'event') take(sequence, payload);
  }
}
