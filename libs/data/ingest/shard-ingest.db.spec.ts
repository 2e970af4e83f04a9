import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { dataMigrations } from '../migrations/list.js';
import type { MarketDataEvent, TradeEvent } from '../rules/events.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';
import type { JournaledEvent } from '../rules/event-codec.js';
import { dataProjection } from './projection.js';
import { ShardIngest } from './shard-ingest.js';
import { delivered, randomOf, randomStream } from './streams.fixture.js';

jest.setTimeout(120_000);

const clock = new SystemClock();
const TABLES = dataProjection(() => undefined).tables;
let database: TestDatabase;
let opened: ShardIngest[] = [];
let faults: unknown[] = [];
let refused: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase([...journalMigrations, ...dataMigrations]);
});
afterAll(() => database.drop());
beforeEach(async () => {
  [opened, faults, refused] = [[], [], []];
  const { rows } = await database.pool.query<{ list: string }>(
    `select string_agg(oid::regclass::text, ', ') as list from pg_class
     where relnamespace in ('data'::regnamespace, 'journal'::regnamespace) and relkind in ('r', 'p')
       and oid not in ('journal.life'::regclass)`,
  );
  await database.pool.query(`truncate ${rows[0]!.list}`);
});
afterEach(async () => {
  for (const each of opened) await each.stop();
});

async function open(provider: Provider | 'labels'): Promise<ShardIngest> {
  const { url, pool } = database;
  const seals = new RecordMacs('data', [Buffer.alloc(32, 1)]);
  const ingest = await ShardIngest.open(
    provider === 'labels' ? PROVIDERS.length : PROVIDERS.indexOf(provider),
    {
      ...{ pool, clock, books: undefined },
      journal: new PostgresJournal({ family: 'data', url, clock, opener: 'ingest-0', seals }),
      reader: new PostgresJournalReader(pool, 'data'),
      onFault: (_what, error) => faults.push(error),
      onRefused: (reason) => refused.push(reason),
    },
  );
  opened.push(ingest);
  return ingest;
}

async function ingestAll(
  provider: Provider,
  batches: readonly (readonly MarketDataEvent[])[],
): Promise<ShardIngest> {
  const ingest = await open(provider);
  await ingest.resume();
  await takeAll(ingest, batches);
  await applied(ingest);
  return ingest;
}

async function takeAll(ingest: ShardIngest, batches: readonly (readonly MarketDataEvent[])[]): Promise<void> {
  for (const [index, events] of batches.entries()) {
    await ingest.take('practice', { events, cursor: String(index), isCaughtUp: false });
  }
}

async function applied(ingest: ShardIngest): Promise<void> {
  await eventually(() => expect(ingest.position).toBe(ingest.head));
}

/** Every row of every projected table. */
async function rows(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { schema, name, key } of TABLES) {
    const { rows } = await database.pool.query<{ row: string }>(
      `select t::text as row from ${schema}.${name} t order by ${key.join(', ')}`,
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

interface SlowCandle {
  readonly key: string;
  readonly text: string;
}

const seqOf = ({ seq, source_id }: TradeEvent): bigint =>
  seq ?? createHash('sha256').update(source_id).digest().readBigUInt64BE() & (2n ** 63n - 1n);

function inOrder(left: TradeEvent, right: TradeEvent): number {
  if (left.source_ts !== right.source_ts) return left.source_ts - right.source_ts;
  if (seqOf(left) !== seqOf(right)) return seqOf(left) < seqOf(right) ? -1 : 1;
  return Buffer.compare(Buffer.from(left.source_id), Buffer.from(right.source_id));
}

/** What the rows must be, by the slowest way: sort all trades, walk each bucket. */
function slowCandles(provider: Provider, events: readonly JournaledEvent[]): SlowCandle[] {
  const busted = new Set(
    events.flatMap((event) => (event.type === 'TRADE_BUST' ? [event.trade_source_id] : [])),
  );
  const trades = new Map(
    events.flatMap((event) => (event.type === 'TRADE' ? [[event.source_id, event] as const] : [])),
  );
  const single = provider === 'venue_b' || provider === 'venue_f';
  const candles = new Map<string, TradeEvent[]>();
  for (const trade of [...trades.values()].sort(inOrder)) {
    if (busted.has(trade.source_id)) continue;
    for (const seconds of [60, 3_600, 86_400]) {
      const bucket = trade.source_ts - (trade.source_ts % (seconds * 1_000_000));
      const key = `${trade.market_id} ${single ? 0 : trade.outcome_index} ${seconds} ${bucket}`;
      candles.set(key, [...(candles.get(key) ?? []), trade]);
    }
  }
  const priceOf = ({ outcome_index, price }: TradeEvent): number =>
    single && outcome_index === 1 ? 1_000_000 - price : price;
  return [...candles]
    .map(([key, inside]) => {
      const prices = inside.map(priceOf);
      const volume = inside.reduce((sum, { size }) => sum + size, 0n);
      const cash = inside.reduce(
        (sum, { price, size }) => sum + (BigInt(price) * size * 2n + 1_000_000n) / 2_000_000n,
        0n,
      );
      const figures = [
        prices[0],
        Math.max(...prices),
        Math.min(...prices),
        prices.at(-1),
        volume,
        cash,
        inside.length,
      ];
      return { key, text: figures.join(' ') };
    })
    .sort(byKey);
}

async function storedCandles(): Promise<SlowCandle[]> {
  const { rows } = await database.pool.query<SlowCandle>(
    `select concat_ws(' ', market_id, instrument % 64, timeframe, bucket) as key,
       concat_ws(' ', open, high, low, close, volume, cash, trades) as text
     from data.candles join data.markets on market_no = instrument / 64`,
  );
  return rows.sort(byKey);
}

function byKey(left: SlowCandle, right: SlowCandle): number {
  return left.key < right.key ? -1 : 1;
}

async function storedTrades(): Promise<string[]> {
  const { rows } = await database.pool.query<{ text: string }>(
    `select concat_ws(' ', market_id, instrument % 64, ts, seq, source_id, price, size, coalesce(side, '-'), is_busted) as text
     from data.trades join data.markets on market_no = instrument / 64`,
  );
  return rows.map(({ text }) => text).sort();
}

function slowTrades(events: readonly JournaledEvent[]): string[] {
  const busted = new Set(
    events.flatMap((event) => (event.type === 'TRADE_BUST' ? [event.trade_source_id] : [])),
  );
  const texts = events.flatMap((event) =>
    event.type !== 'TRADE'
      ? []
      : [
          [
            ...[
              event.market_id,
              event.outcome_index,
              event.source_ts,
              seqOf(event),
              event.source_id,
              event.price,
            ],
            ...[event.size, event.side ?? '-', busted.has(event.source_id) ? 't' : 'f'],
          ].join(' '),
        ],
  );
  return [...new Set(texts)].sort();
}

describe.each<Provider>(['venue_a', 'venue_b'])('events of %s', (provider) => {
  it.each([1, 2, 3])(
    'in any order, repeated and cut anywhere, come to what a slow fold makes of them (seed %i)',
    async (seed) => {
      const events = randomStream(provider, seed, 400);
      await ingestAll(provider, delivered(events, randomOf(seed + 100)));
      expect(faults).toEqual([]);
      expect(await storedTrades()).toEqual(slowTrades(events));
      expect(await storedCandles()).toEqual(slowCandles(provider, events));
      expect((await rows()).waiting).toEqual([]);
      const { rows: statuses } = await database.pool.query<{
        market_id: string;
        name: string;
        status: string;
      }>(
        `select market_id, state -> 'details' ->> 'name' as name, status from data.markets order by market_id`,
      );
      expect(statuses).toEqual(slowMarkets(provider, events));
    },
  );
});

function slowMarkets(provider: Provider, events: readonly JournaledEvent[]): object[] {
  const newest = (types: readonly string[], id: string): JournaledEvent | undefined =>
    events
      .filter((event) => types.includes(event.type) && 'market_id' in event && event.market_id === id)
      .sort((left, right) => left.source_ts - right.source_ts || (left.source_id < right.source_id ? -1 : 1))
      .at(-1);
  return ['alpha', 'beta', 'gamma'].map((market_id) => {
    const details = newest(['MARKET'], market_id);
    const said = newest(['STATUS', 'RESOLUTION'], market_id);
    const first = provider === 'venue_b' ? 'open' : 'active';
    return {
      market_id,
      name: details?.type === 'MARKET' ? details.name : undefined,
      status: said !== undefined && 'status' in said ? said.status : first,
    };
  });
}

it('the rows do not depend on how the journal is cut into batches of the projector', async () => {
  const events = randomStream('venue_a', 5, 300);
  const one = await open('venue_a');
  await takeAll(one, [events]);
  await one.resume();
  await applied(one);
  const whole = await rows();
  await database.pool.query(`truncate data.offsets, ${TABLES.map(({ name }) => `data.${name}`).join(', ')}`);
  await one.pause();
  await one.resume();
  await applied(one);
  expect(await rows()).toEqual(whole);
});
