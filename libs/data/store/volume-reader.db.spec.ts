import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { JournaledMarketData } from '#libs/data/rules/event-codec.js';
import type { TradeEvent } from '#libs/data/rules/events.js';
import type { Provider } from '#libs/data/rules/providers.js';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import {
  bustOf,
  delivered,
  marketEvent,
  randomOf,
  randomStream,
  START,
  tradeEvent,
} from '#libs/testing/data/streams.js';
import { MarketReader } from './market-reader.js';
import { VolumeReader } from './volume-reader.js';

const MARKETS = ['alpha', 'beta', 'gamma'];
const DAY = 86_400_000_000;

/** A slow reference: every trade that no bust names, once, at its price. */
function slowCash(
  events: readonly JournaledMarketData[],
  isCounted: (trade: TradeEvent) => boolean,
): { readonly cash: bigint; readonly trades: bigint } {
  const busted = new Set(
    events.flatMap((event) => (event.type === 'TRADE_BUST' ? [event.trade_source_id] : [])),
  );
  const trades = events.filter(
    (event): event is TradeEvent =>
      event.type === 'TRADE' && !busted.has(event.source_id) && isCounted(event),
  );
  return {
    cash: trades.reduce(
      (sum, { price, size }) => sum + (BigInt(price) * size * 2n + 1_000_000n) / 2_000_000n,
      0n,
    ),
    trades: BigInt(trades.length),
  };
}

describe('volumes', () => {
  let world: IngestWorld;
  let markets: MarketReader;
  let volumes: VolumeReader;

  beforeAll(async () => {
    world = await IngestWorld.make();
    markets = new MarketReader(world.database.pool);
    volumes = new VolumeReader(world.database.pool);
  });
  beforeEach(() => world.empty());
  afterAll(() => world.end());

  it.each<Provider>(['venue_a', 'venue_b'])(
    'of %s are those of its trades, in any window',
    async (provider) => {
      const events = randomStream(provider, 41, 700);
      await world.ingestAll(provider, delivered(events, randomOf(5)));
      const found = [...(await markets.find(provider, MARKETS)).values()];
      expect(found).toHaveLength(3);
      const random = randomOf(17);
      const moments = events.flatMap((event) => (event.type === 'TRADE' ? [event.source_ts] : []));
      for (let round = 0; round < 40; round += 1) {
        const seconds = [60, 1, 3_600, 86_400, 1 + random(90_000)][round % 5] ?? 1;
        const now = (moments[random(moments.length)] ?? START) + (round % 3 === 0 ? 0 : random(DAY));
        const read = await volumes.window(provider, found, { seconds, now });
        for (const { marketNo, state } of found) {
          const slow = [0, 1].map(
            (index) =>
              slowCash(
                events,
                ({ market_id, outcome_index, source_ts }) =>
                  market_id === state.market_id &&
                  outcome_index === index &&
                  source_ts > now - seconds * 1_000_000 &&
                  source_ts <= now,
              ).cash,
          );
          expect([seconds, now, read.get(marketNo)]).toEqual([seconds, now, slow]);
        }
      }
    },
  );

  it.each<Provider>(['venue_a', 'venue_b'])(
    'of %s since listing, of markets and of outcomes',
    async (provider) => {
      const events = randomStream(provider, 43, 400);
      await world.ingestAll(provider, delivered(events, randomOf(6)));
      const requested = [
        ...(await markets.find(provider, [...MARKETS, 'alpha-yes', 'alpha-no', 'beta-no'])).values(),
      ];
      expect(requested.filter(({ outcomeIndex }) => outcomeIndex !== undefined)).toHaveLength(3);
      const slow = requested.map(({ state, outcomeIndex }) =>
        slowCash(
          events,
          ({ market_id, outcome_index }) =>
            market_id === state.market_id && (outcomeIndex ?? outcome_index) === outcome_index,
        ),
      );
      await expect(volumes.totals(provider, requested)).resolves.toEqual(slow);
      await expect(volumes.totals(provider, [])).resolves.toEqual([]);
    },
  );

  it('a volume counted twice: a match counts once, on the side of its taker, however often it comes and is busted', async () => {
    const trade = tradeEvent('venue_a', 'alpha', { source_id: 'x:1', price: 333_333, size: 1_500_001n });
    const other = tradeEvent('venue_a', 'alpha', {
      source_id: 'x:2',
      outcome_index: 1,
      price: 1,
      size: 500_000n,
    });
    const bad = tradeEvent('venue_a', 'alpha', { source_id: 'x:3' });
    await world.ingestAll('venue_a', [
      [bustOf(bad), trade, trade],
      [marketEvent('venue_a', 'alpha'), other, bad, trade],
    ]);
    const found = [...(await markets.find('venue_a', ['alpha'])).values()];
    const read = await volumes.window('venue_a', found, { seconds: 60, now: START });
    // 333,333 * 1,500,001 / 10^6 is 499,999.83, and 1 * 500,000 / 10^6 is 0.5. Each is rounded half up.
    expect([...read.values()]).toEqual([[500_000n, 1n]]);
    await expect(volumes.totals('venue_a', found)).resolves.toEqual([{ cash: 500_001n, trades: 2n }]);
  });
});
