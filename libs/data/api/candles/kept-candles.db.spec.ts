import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { MarketDataEvent, TradeEvent } from '../../rules/events.js';
import { isoTime } from '../../rules/times.js';
import type { ShardIngest } from '../../ingest/shard-ingest.js';
import { applied, IngestWorld, takeAll } from '#libs/testing/data/ingest-world.js';
import { SeriesListener } from '#libs/testing/data/series-listener.js';
import { bustOf, marketEvent, START, tradeEvent } from '#libs/testing/data/streams.js';

jest.setTimeout(120_000);

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const NOON = START + 14 * HOUR;

let world: IngestWorld;
let listener: SeriesListener;
let ingest: ShardIngest;
let now = NOON;

beforeAll(async () => {
  world = await IngestWorld.make();
  listener = await SeriesListener.open(world.database.pool, { epochNanos: () => BigInt(now) * 1_000n });
});
afterAll(async () => {
  await listener.close();
  await world.end();
});
beforeEach(async () => {
  now += 2 * MINUTE;
  await world.empty();
  ingest = await world.ingestAll('venue_a', [[marketEvent('venue_a', 'm'), of('first', 0)]]);
});

/** A time in the second hour before noon. */
function of(source_id: string, minutes: number, over: Partial<TradeEvent> = {}): TradeEvent {
  const source_ts = NOON - 2 * HOUR + minutes * MINUTE;
  return tradeEvent('venue_a', 'm', { source_id, source_ts, ...over });
}

async function put(...events: readonly MarketDataEvent[]): Promise<void> {
  await takeAll(ingest, [events]);
  await applied(ingest);
}

type Shown = readonly Readonly<Record<string, unknown>>[];

async function read(over: Readonly<Record<string, string | number>> = {}): Promise<Shown> {
  const reply = await listener.get('/candles', {
    ...{ provider: 'venue_a', contract_id: 'm', timeframe_seconds: 3_600 },
    ...{ start: isoTime(NOON - 3 * HOUR), end: isoTime(NOON) },
    ...over,
  });
  expect(reply.status).toBe(200);
  return (reply.body as { readonly candles: Shown }).candles;
}

/** No event does this, so only a read of the store can notice it. */
async function changeInSilence(): Promise<void> {
  await world.database.pool.query('update data.candles set high = 990000 where timeframe = 3600');
}

it('a cached reply is reused until it is a minute old or is recomputed', async () => {
  expect(await read()).toMatchObject([{ high: 50 }]);
  await changeInSilence();
  expect(await read()).toMatchObject([{ high: 50 }]);
  expect(await read({ end: isoTime(NOON - HOUR) })).toMatchObject([{ high: 99 }]);
  now += MINUTE;
  expect(await read()).toMatchObject([{ high: 99 }]);
  expect(await read({ rebuild: 'true' })).toMatchObject([{ high: 50 }]);
});

it('a late trade, a bust or a new token id invalidates the cached reply', async () => {
  expect(await read()).toMatchObject([{ volume: 1, token_id: 'm-yes' }]);
  const late = of('late', 5);
  await put(late);
  expect(await read()).toMatchObject([{ volume: 2 }]);
  await put(bustOf(late));
  expect(await read()).toMatchObject([{ volume: 1 }]);
  const renamed = { outcomes: [{ label: 'Yes', token_id: 'new' }, { label: 'No' }] };
  await put({ ...marketEvent('venue_a', 'm', START + 1), ...renamed });
  expect(await read()).toMatchObject([{ volume: 1, token_id: 'new' }]);
  await put(bustOf(of('first', 0)));
  expect(await read()).toEqual([]);
});

it('a trade of another day or another outcome does not invalidate it', async () => {
  expect(await read()).toHaveLength(1);
  await changeInSilence();
  await put(of('yesterday', -24 * 60), of('other', 1, { outcome_index: 1 }));
  expect(await read()).toMatchObject([{ high: 50, volume: 1 }]);
});

it('a trade earlier than all others changes `history_from` only', async () => {
  const from = async (): Promise<unknown> =>
    (
      await listener.get('/candles', {
        ...{ provider: 'venue_a', contract_id: 'm', timeframe_seconds: 3_600 },
        ...{ start: isoTime(NOON - 3 * HOUR), end: isoTime(NOON) },
      })
    ).body;
  expect(await from()).toMatchObject({ history_from: isoTime(NOON - 2 * HOUR) });
  await put(of('before', -30 * 60));
  expect(await from()).toMatchObject({ history_from: isoTime(NOON - 32 * HOUR), candles: [{ volume: 1 }] });
});

it('a forming bucket is never cached', async () => {
  const forming = { end: isoTime(NOON + HOUR) };
  expect(await read(forming)).toMatchObject([{ high: 50 }]);
  await changeInSilence();
  expect(await read(forming)).toMatchObject([{ high: 99 }]);
});

it('a reader never sees less than was applied when it asked, or less than it has seen before', async () => {
  let count = 1;
  let isOver = false;
  const readers = Array.from({ length: 6 }, async () => {
    for (let last = 0; !isOver;) {
      const atLeast = Math.max(last, count);
      const [candle] = await read();
      last = Number(candle?.volume);
      expect(last).toBeGreaterThanOrEqual(atLeast);
    }
  });
  for (let index = 0; index < 40; index += 1) {
    await put(of(`t${index}`, index % 50));
    count += 1;
  }
  isOver = true;
  await Promise.all(readers);
  expect(await read()).toMatchObject([{ volume: 41 }]);
});
