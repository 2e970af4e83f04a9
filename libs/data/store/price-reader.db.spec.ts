import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { comparePlaces } from '../rules/order.js';
import type { BookState } from '../rules/books.js';
import type { MarketDataEvent, TradeEvent } from '../rules/events.js';
import type { Provider } from '../rules/providers.js';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import { bustOf, marketEvent, randomStream, START, tradeEvent } from '#libs/testing/data/streams.js';
import { BookTable } from './book-table.js';
import { MarketTable, type StoredMarket } from './market-table.js';
import { type OutcomeNow, PriceReader } from './price-reader.js';
import { madeSeq } from './trade-table.js';

jest.setTimeout(120_000);

const SECOND = 1_000_000;

let world: IngestWorld;

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(() => world.end());
afterEach(() => world.empty());

async function now(
  provider: Provider,
  ids: readonly string[],
  at = START,
): Promise<Record<string, readonly OutcomeNow[] | undefined>> {
  const { pool } = world.database;
  const known = await new MarketTable().find(pool, provider, ids);
  const markets: StoredMarket[] = ids.flatMap((id) => known.get(id) ?? []);
  const found = await new PriceReader(pool).of(provider, markets, at);
  return Object.fromEntries(markets.map(({ marketNo, state }) => [state.market_id, found.get(marketNo)]));
}

const BOOK: BookState = {
  ...{ sequence: 12n, source_ts: START, isDropped: false },
  bids: [
    { price: 400_000, size: 2_000_000n },
    { price: 300_000, size: 9_000_000n },
  ],
  asks: [{ price: 420_000, size: 1_000_000n }],
};

async function stand(provider: Provider, book: BookState = BOOK, outcome_index = 0): Promise<void> {
  await new BookTable(world.database.pool).write(provider, [{ market_id: 'm', outcome_index, book }]);
}

describe('the price of an outcome', () => {
  it('is the mid of its own book on a venue with a book for each outcome', async () => {
    await world.ingestAll('venue_a', [
      [marketEvent('venue_a', 'm'), tradeEvent('venue_a', 'm', { price: 390_000 })],
    ]);
    await stand('venue_a');
    expect(await now('venue_a', ['m', 'unheard of'])).toEqual({
      m: [
        {
          price: { price: 410_000, source: 'mid' },
          liquidity: 1_220_000n,
          isStale: false,
          book: BOOK,
          last: { price: 390_000, ts: START },
        },
        { price: null, liquidity: null, isStale: false },
      ],
    });
  });

  it('is one minus the other outcome in a single-book market, whichever outcome traded', async () => {
    for (const provider of ['venue_b', 'venue_f'] as const) {
      const traded = tradeEvent(provider, 'm', { source_ts: START + 3, outcome_index: 1, price: 550_000 });
      await world.ingestAll(provider, [[marketEvent(provider, 'm'), traded]]);
      const last = [
        { price: 450_000, ts: START + 3 },
        { price: 550_000, ts: START + 3 },
      ];
      expect((await now(provider, ['m'])).m).toEqual(
        last.map((each) => ({
          ...{ price: { price: each.price, source: 'last' }, liquidity: null, isStale: false },
          last: each,
        })),
      );
      await stand(provider);
      expect((await now(provider, ['m'])).m?.[1]).toEqual({
        ...{ price: { price: 590_000, source: 'mid' }, liquidity: 1_780_000n, isStale: false, last: last[1] },
        book: {
          ...BOOK,
          bids: [{ price: 580_000, size: 1_000_000n }],
          asks: [
            { price: 600_000, size: 2_000_000n },
            { price: 700_000, size: 9_000_000n },
          ],
        },
      });
    }
  });

  it('is the last trade once the book is stale or dropped; the book keeps its state', async () => {
    await world.ingestAll('venue_a', [[marketEvent('venue_a', 'm'), tradeEvent('venue_a', 'm')]]);
    await stand('venue_a');
    const stale = { price: { price: 500_000, source: 'last' }, liquidity: null, isStale: true, book: BOOK };
    expect((await now('venue_a', ['m'], START + 10 * SECOND)).m?.[0]).toMatchObject({ isStale: false });
    expect((await now('venue_a', ['m'], START + 10 * SECOND + 1)).m?.[0]).toMatchObject(stale);
    const dropped = { ...BOOK, isDropped: true, bids: [], asks: [] };
    await stand('venue_a', dropped);
    expect((await now('venue_a', ['m'])).m?.[0]).toMatchObject({ ...stale, book: dropped });
  });

  it('is the payout once known, even with a live book', async () => {
    const resolution: MarketDataEvent = {
      ...{ type: 'RESOLUTION', provider: 'venue_b', market_id: 'm', status: 'resolved' },
      ...{ source_id: 'r', source_ts: START + 5, received_at: START, payouts: [300_000, 700_000] },
    };
    await world.ingestAll('venue_b', [[marketEvent('venue_b', 'm'), resolution]]);
    await stand('venue_b');
    expect((await now('venue_b', ['m'])).m).toMatchObject([
      { price: { price: 300_000, source: 'payout' } },
      { price: { price: 700_000, source: 'payout' } },
    ]);
  });

  it('ignores a last trade that is busted', async () => {
    const [first, second] = [
      tradeEvent('venue_a', 'm', { source_id: 'a', price: 100_000 }),
      tradeEvent('venue_a', 'm', { source_id: 'b', price: 900_000, source_ts: START + 86_400 * SECOND }),
    ];
    await world.ingestAll('venue_a', [[marketEvent('venue_a', 'm'), first, second], [bustOf(second)]]);
    expect((await now('venue_a', ['m'])).m?.[0]).toMatchObject({ last: { price: 100_000, ts: START } });
  });
});

it.each(['venue_a', 'venue_b'] as const)(
  'the last trades of %s follow from its events in order',
  async (provider) => {
    const events = randomStream(provider, 77, 400);
    await world.ingestAll(provider, [events]);
    const busted = new Set(
      events.flatMap((each) => (each.type === 'TRADE_BUST' ? [each.trade_source_id] : [])),
    );
    const trades = events
      .filter((each): each is TradeEvent => each.type === 'TRADE' && !busted.has(each.source_id))
      .map((trade) => ({ ...trade, seq: trade.seq ?? madeSeq(trade.source_id) }))
      .sort(comparePlaces);
    const found = await now(provider, ['alpha', 'beta', 'gamma']);
    for (const id of ['alpha', 'beta', 'gamma']) {
      for (const index of [0, 1]) {
        const last = trades.findLast(
          ({ market_id, outcome_index }) =>
            market_id === id && (provider === 'venue_b' || outcome_index === index),
        );
        const price = last?.outcome_index === index ? last.price : 1_000_000 - (last?.price ?? 0);
        expect(found[id]?.[index]?.last).toEqual({ price, ts: last?.source_ts });
      }
    }
  },
);
