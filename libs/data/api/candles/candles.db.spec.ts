import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { JournaledMarketData } from '../../rules/event-codec.js';
import { PROVIDER_FACTS, type Provider } from '../../rules/providers.js';
import { isoTime } from '../../rules/times.js';
import { applied, IngestWorld, takeAll } from '#libs/testing/data/ingest-world.js';
import type { ReadReply } from '#libs/testing/data/data-routes.js';
import { SeriesListener } from '#libs/testing/data/series-listener.js';
import { type SlowAsk, slowBars } from '#libs/testing/data/slow-bars.js';
import { delivered, randomOf, randomStream, START } from '#libs/testing/data/streams.js';

jest.setTimeout(180_000);

const HOUR = 3_600_000_000;
const TIMEFRAMES = [1, 60, 300, 900, 3_600, 14_400, 86_400];

let world: IngestWorld;
let listener: SeriesListener;
let now = START + 13 * HOUR + 7;

beforeAll(async () => {
  world = await IngestWorld.make();
  listener = await SeriesListener.open(world.database.pool, { epochNanos: () => BigInt(now) * 1_000n });
});
afterAll(async () => {
  await listener.close();
  await world.end();
});
afterEach(async () => {
  now = START + 13 * HOUR + 7;
  expect(listener.faults.splice(0)).toEqual([]);
  expect(listener.apart.splice(0)).toEqual([]);
  await world.empty();
});

/** An id of the market or of its outcome. */
function namedContract({ market, outcome }: SlowAsk, random: (below: number) => number): string {
  return [market, `c-${market}`, `${market}-${outcome === 0 ? 'yes' : 'no'}`][random(3)] ?? market;
}

function asParameters(
  provider: Provider,
  contract_id: string,
  ask: SlowAsk,
): Record<string, string | number> {
  return {
    ...{ provider, contract_id, timeframe_seconds: ask.timeframe, outcome: ask.outcome },
    ...{ start: isoTime(ask.start), end: isoTime(ask.end) },
  };
}

function shownAs(
  provider: Provider,
  contract_id: string,
  ask: SlowAsk,
  events: readonly JournaledMarketData[],
): object[] {
  const { isSingleBook } = PROVIDER_FACTS[provider];
  const token = { token_id: `${ask.market}-${ask.outcome === 0 ? 'yes' : 'no'}` };
  return slowBars(events, ask, { now, isSingleBook }).map(({ bucket_start, ...bar }) => ({
    ...{ contract_id, bucket_start, timeframe_seconds: ask.timeframe },
    ...bar,
    ...(isSingleBook ? {} : token),
  }));
}

function candlesIn(reply: ReadReply): readonly object[] {
  expect(reply.status).toBe(200);
  const { candles } = reply.body as { readonly candles: readonly object[] };
  return candles;
}

function resultsIn(reply: ReadReply): readonly object[] {
  expect(reply.status).toBe(200);
  const { results } = reply.body as { readonly results: readonly BatchResult[] };
  return results.map(({ index, candles }) => ({ index, candles }));
}

interface BatchResult {
  readonly index: number;
  readonly candles: readonly object[];
}

function anyAsk(random: (below: number) => number): SlowAsk {
  const timeframe = TIMEFRAMES[random(TIMEFRAMES.length)] ?? 60;
  const edge = (): number => {
    const at = START - HOUR + random(16) * HOUR + random(60) * 60_000_000;
    return at + (random(3) - 1) * (random(2) === 0 ? 1 : 500_000);
  };
  const [one, other] = [edge(), edge()];
  return {
    ...{ market: ['alpha', 'beta', 'gamma'][random(3)] ?? 'alpha', outcome: random(2), timeframe },
    ...{ start: Math.min(one, other), end: Math.max(one, other) + 1 },
  };
}

describe('candles over HTTP equal those of a simple reference program', () => {
  it.each([
    ['venue_a', 11],
    ['venue_b', 12],
    ['venue_b', 13],
    ['venue_f', 14],
    ['venue_e', 15],
  ] as const)('%s, whatever the order, repeated or busted (seed %i)', async (provider, seed) => {
    const random = randomOf(seed);
    const batches = delivered(randomStream(provider, seed, 400), random);
    const ingest = await world.open(provider);
    await ingest.resume();
    const events: JournaledMarketData[] = [];
    for (let at = 0; at < batches.length; at += 12) {
      const some = batches.slice(at, at + 12);
      await takeAll(ingest, some);
      await applied(ingest);
      events.push(...some.flat());
      const isListed = (id: string): boolean =>
        events.some((event) => event.type === 'MARKET' && event.market_id === id);
      for (let count = 0; count < 25; count += 1) {
        now = START + (10 + random(30)) * HOUR + random(5) * 500_000;
        const ask = anyAsk(random);
        const contract = namedContract(ask, random);
        const reply = await listener.get('/candles', {
          ...asParameters(provider, contract, ask),
          rebuild: random(3) === 0,
        });
        const expected = isListed(ask.market) ? shownAs(provider, contract, ask, events) : [];
        expect(candlesIn(reply)).toEqual(expected);
      }
      const asks = Array.from({ length: 20 }, () => anyAsk(random));
      const names = asks.map((ask) => namedContract(ask, random));
      const requests = asks.map((ask, index) => asParameters(provider, names[index] ?? '', ask));
      const reply = await listener.post('/candles/batch', { requests });
      expect(resultsIn(reply)).toEqual(
        asks.map((ask, index) => ({
          index,
          candles: isListed(ask.market) ? shownAs(provider, names[index] ?? '', ask, events) : [],
        })),
      );
    }
  });
});
