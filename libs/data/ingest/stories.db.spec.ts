import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { MarketDataEvent, TradeEvent } from '../rules/events.js';
import { applied, IngestWorld, takeAll } from '#libs/testing/data/ingest-world.js';
import { bustOf, marketEvent, START, tradeEvent } from '#libs/testing/data/streams.js';

jest.setTimeout(120_000);

let world: IngestWorld;

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(() => world.end());
afterEach(() => world.empty());

describe('incidents of other systems', () => {
  const market = marketEvent('venue_a', 'm');

  async function candle(): Promise<object[]> {
    const { rows } = await world.database.pool.query<object>(
      'select open, high, low, close, volume, trades from data.candles where timeframe = 86400 order by instrument',
    );
    return rows;
  }

  it('every trade was delivered twice for a day (polygon-io issue 56): each counts once', async () => {
    const trades = [1, 2, 3].map((each) => tradeEvent('venue_a', 'm', { source_id: `t${each}` }));
    await world.ingestAll('venue_a', [[market, ...trades, ...trades], trades, [...trades].reverse()]);
    expect(await candle()).toMatchObject([{ volume: '3000000', trades: 3 }]);
  });

  it('both legs of a match were summed (spellbook issue 9684): the other outcome has its own series', async () => {
    const leg = { source_id: 'a', price: 600_000 };
    await world.ingestAll('venue_a', [[market, tradeEvent('venue_a', 'm', leg)]]);
    expect(await candle()).toMatchObject([{ volume: '1000000', trades: 1 }]);
  });

  it('a payout was written over the prices of a candle (spellbook issue 9551): it is a resolution, not a trade', async () => {
    const resolution = {
      ...({ type: 'RESOLUTION', provider: 'venue_a', market_id: 'm', status: 'resolved' } as const),
      ...{ source_id: 'r', source_ts: START + 5, received_at: START, payouts: [0, 1_000_000] },
    };
    await world.ingestAll('venue_a', [[market, tradeEvent('venue_a', 'm'), resolution]]);
    expect(await candle()).toMatchObject([{ open: 500_000, high: 500_000, low: 500_000, close: 500_000 }]);
    const { rows } = await world.database.pool.query(
      'select status, payouts, outcome_index from data.resolutions',
    );
    expect(rows).toEqual([{ status: 'resolved', payouts: [0, 1_000_000], outcome_index: 1 }]);
  });

  it('the order of outcomes changed and win and loss were swapped (husker-mini issue 188): the index stays', async () => {
    const turned = {
      ...market,
      source_id: 'later',
      source_ts: START + 1,
      outcomes: [...market.outcomes].reverse(),
    };
    const foreign = {
      ...turned,
      source_id: 'other',
      source_ts: START + 2,
      outcomes: [{ label: 'A' }, { label: 'B' }],
    };
    await world.ingestAll('venue_a', [[market, turned, foreign]]);
    const { rows } = await world.database.pool.query(
      `select id, outcome_index from data.market_ids where kind = 'token' order by id`,
    );
    expect(rows).toEqual([
      { id: 'm-no', outcome_index: 1 },
      { id: 'm-yes', outcome_index: 0 },
    ]);
    expect(world.refused).toEqual([expect.stringContaining('outcomes_differ')]);
  });

  it('a trade of a reorganised block stayed in the books (graph-node issue 5586): a bust removes it, before or after it', async () => {
    const late = tradeEvent('venue_a', 'm', { source_id: 'late', price: 900_000 });
    const early = tradeEvent('venue_a', 'm', { source_id: 'early', price: 100_000 });
    await world.ingestAll('venue_a', [
      [market, bustOf(early), tradeEvent('venue_a', 'm'), late],
      [early],
      [bustOf(late)],
    ]);
    expect(await candle()).toMatchObject([{ high: 500_000, low: 500_000, volume: '1000000', trades: 1 }]);
  });

  it('events of an unlisted market wait for its listing, and then count', async () => {
    const trade = tradeEvent('venue_a', 'm');
    const one = await world.ingestAll('venue_a', [[trade, { ...trade, source_id: 'u' }]]);
    expect(await candle()).toEqual([]);
    expect((await world.rows()).waiting).toHaveLength(2);
    await takeAll(one, [[market]]);
    await applied(one);
    expect(await candle()).toMatchObject([{ trades: 2 }]);
    expect((await world.rows()).waiting).toEqual([]);
  });

  it('the same trade with another price is a conflict and changes nothing; another time of receipt is no conflict', async () => {
    const trade = tradeEvent('venue_a', 'm');
    const one = await world.ingestAll('venue_a', [[market, trade]]);
    const sound = await world.rows();
    const taken = await one.take('practice', {
      events: [
        { ...trade, price: 1 },
        { ...trade, received_at: 1 },
      ],
      ...{ cursor: 'later', isCaughtUp: false },
    });
    expect(taken).toMatchObject({ journaled: 0, known: 2, conflicts: 1 });
    await applied(one);
    expect(await world.rows()).toEqual(sound);
  });

  it('an event that no table can store is refused, and does not stop later events', async () => {
    const one = await world.ingestAll('venue_a', [
      [
        ...[
          market,
          tradeEvent('venue_a', 'm', { source_id: 'zero\0' }),
          tradeEvent('venue_a', 'm', { maker: '\ud800' }),
        ],
        ...[
          tradeEvent('venue_a', 'm', { size: 2n ** 63n }),
          tradeEvent('venue_a', 'm', { source_id: 'back\\u0000' }),
        ],
        ...[tradeEvent('venue_a', 'm', { source_id: 'third', outcome_index: 2 })],
      ],
    ]);
    expect(world.refused).toHaveLength(4);
    expect(one.position).toBe(one.head);
    expect(await candle()).toMatchObject([{ trades: 1 }]);
  });

  it('missing numbers between trades are gaps until they arrive', async () => {
    const of = (seq: bigint): TradeEvent => tradeEvent('venue_a', 'm', { source_id: `n${seq}`, seq });
    const one = await world.ingestAll('venue_a', [[market, of(1n), of(2n), of(7n)], [of(4n)], [of(5n)]]);
    const spans = async (): Promise<unknown[]> =>
      (
        await world.database.pool.query<object>(
          'select first_seq::int, last_seq::int from data.sequences order by 1',
        )
      ).rows;
    expect(await spans()).toEqual([
      { first_seq: 1, last_seq: 2 },
      { first_seq: 4, last_seq: 5 },
      { first_seq: 7, last_seq: 7 },
    ]);
    await takeAll(one, [[of(6n), of(3n)]]);
    await applied(one);
    expect(await spans()).toEqual([{ first_seq: 1, last_seq: 7 }]);
  });
});

it('the newest tick of each symbol is stored; games are only journaled', async () => {
  const tick = (source_id: string, source_ts: number, price: string): MarketDataEvent => ({
    ...{ type: 'TICK', label: 'desk', source_id, source_ts, received_at: source_ts, source: 'oracle_stream' },
    ...{ class: 'crypto', symbol: 'BTC', price, content: { price } },
  });
  const ingest = await world.open('labels');
  await ingest.resume();
  const score = {
    type: 'SCORE',
    label: 'desk',
    source_id: 'g',
    source_ts: 1,
    received_at: 1,
    game_id: 'g',
    content: {},
  } as const;
  await takeAll(ingest, [[tick('b', 5, '2.5'), tick('a', 4, '1'), score], [tick('c', 3, '9')]]);
  await applied(ingest);
  const { rows } = await world.database.pool.query('select symbol, price, source_id from data.ticks');
  expect(rows).toEqual([{ symbol: 'BTC', price: '2.5', source_id: 'b' }]);
});
