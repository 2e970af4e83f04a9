import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CompanionWorld, SECOND } from '#libs/testing/data/companion-world.js';
import type { WorldReply } from '#libs/testing/data/data-world.js';
import { tradeEvent } from '#libs/testing/data/streams.js';
import { eventually } from '#libs/testing/eventually.js';
import { isoTime } from '../../rules/times.js';

jest.setTimeout(120_000);

let world: CompanionWorld;

beforeAll(async () => {
  world = await CompanionWorld.open();
});
afterEach(() => world.data.ingest.empty());
afterAll(() => world.close());

const YES = { contract_id: 'm', asset_id: 'm-yes', outcome_index: 0, outcome: 'Yes' };
const NO = { contract_id: 'm', asset_id: 'm-no', outcome_index: 1, outcome: 'No' };
const NEITHER = { mark: null, bid: null, ask: null, last: null, source: null, as_of: null, stale: false };

describe('GET /v1/marks', () => {
  it('finds a contract by market id, condition id or token id; a token id names its outcome', async () => {
    await world.data.put(
      'venue_a',
      world.listed('venue_a', 'm'),
      tradeEvent('venue_a', 'm', { source_ts: world.now - 50 }),
    );
    await world.shout(world.bookEvent('venue_a'));
    const yes = {
      ...{ ...YES, mark: 0.42, bid: 0.4, ask: 0.44, last: 0.5, source: 'mid' },
      ...{ as_of: isoTime(world.now), stale: false },
    };
    const no = { ...NO, ...NEITHER };
    expect(await world.bodyOf('/v1/marks?provider=VENUE_A&contract_id=m')).toEqual({ marks: [yes, no] });
    expect(await world.bodyOf('/v1/marks?provider=venue_a&contract_id=c-m')).toEqual({
      marks: [yes, no].map((row) => ({ ...row, contract_id: 'c-m' })),
    });
    expect(await world.bodyOf('/v1/marks?provider=venue_a&contract_id=m-no')).toEqual({
      marks: [{ ...no, contract_id: 'm-no' }],
    });
    expect(await world.bodyOf('/v1/marks?provider=venue_a&contract_id=m&asset_id=m-yes')).toEqual({
      marks: [yes],
    });
    expect(await world.bodyOf('/v1/marks?provider=venue_a&contract_id=m&asset_id=x-yes')).toEqual({
      marks: [],
    });
  });

  it('leaves out unknown ids, and answers each id once in the order of the request', async () => {
    await world.data.put('venue_a', world.listed('venue_a', 'm'), world.listed('venue_a', 'a'));
    await world.data.put('venue_b', world.listed('venue_b', 'b'));
    const body = await world.bodyOf(
      '/v1/marks?provider=venue_a&contract_id=m-no,b,unheard&contract_id[]=a-yes,m-no',
    );
    expect(body).toEqual({
      marks: [
        { ...NO, ...NEITHER, contract_id: 'm-no' },
        { ...YES, ...NEITHER, contract_id: 'a-yes', asset_id: 'a-yes' },
      ],
    });
  });

  it.each(['venue_b', 'venue_f'] as const)(
    'shows outcome 1 of %s as one minus outcome 0, with bid and ask exchanged',
    async (provider) => {
      const trade = { source_ts: world.now - 9, outcome_index: 1, price: 570_000 };
      await world.data.put(provider, world.listed(provider, 'm'), tradeEvent(provider, 'm', trade));
      await world.shout(world.bookEvent(provider));
      const common = { source: 'mid', as_of: isoTime(world.now), stale: false };
      expect(await world.bodyOf(`/v1/marks?provider=${provider}&contract_id=m`)).toEqual({
        marks: [
          { ...YES, mark: 0.42, bid: 0.4, ask: 0.44, last: 0.43, ...common },
          { ...NO, mark: 0.58, bid: 0.56, ask: 0.6, last: 0.57, ...common },
        ],
      });
      expect(await world.bodyOf(`/v1/books?provider=${provider}&contract_id=m-no&depth=1`)).toEqual({
        books: [
          {
            ...{ ...NO, contract_id: 'm-no', bids: [[0.56, 2]], asks: [[0.6, 3]], last: 0.57 },
            ...{ sequence: 5, as_of: isoTime(world.now), stale: false },
          },
        ],
      });
    },
  );

  it('is the payout of a resolved market, also of a void one', async () => {
    await world.data.put(
      'venue_a',
      world.listed('venue_a', 'm'),
      tradeEvent('venue_a', 'm', { source_ts: world.now - 90 }),
      world.resolution('venue_a', 'm', { payouts: [500_000, 500_000] }),
    );
    const row = (): object => ({
      mark: 0.5,
      bid: null,
      ask: null,
      source: 'payout',
      as_of: isoTime(world.now - 80),
      stale: false,
    });
    expect(await world.bodyOf('/v1/marks?provider=venue_a&contract_id=m')).toEqual({
      marks: [
        { ...YES, ...row(), last: 0.5 },
        { ...NO, ...row(), last: null },
      ],
    });
  });
});

describe('incidents of other systems', () => {
  it('a book showed 0.01 and 0.99 while the price was right (py-clob-client issue 180): the mark is not made from it', async () => {
    await world.data.put(
      'venue_a',
      world.listed('venue_a', 'm'),
      tradeEvent('venue_a', 'm', { source_ts: world.now - 50 }),
    );
    const levels = { bids: [{ price: 10_000, size: 9n }], asks: [{ price: 990_000, size: 9n }] };
    await world.shout(world.bookEvent('venue_a', levels));
    expect(await world.bodyOf('/v1/marks?provider=venue_a&contract_id=m-yes')).toMatchObject({
      marks: [{ mark: 0.5, source: 'last', bid: 0.01, ask: 0.99, as_of: isoTime(world.now - 50) }],
    });
  });

  it('sockets stayed open and silent (py-clob-client issue 292): ten seconds of silence are stale, a heartbeat is not', async () => {
    await world.data.put(
      'venue_a',
      world.listed('venue_a', 'm'),
      tradeEvent('venue_a', 'm', { source_ts: world.now - 50 }),
    );
    const silentSince = world.now - 10 * SECOND - 1;
    await world.shout(world.bookEvent('venue_a', { source_ts: silentSince }));
    const path = '/v1/books?provider=venue_a&contract_id=m-yes';
    const stood = {
      bids: [
        [0.4, 3],
        [0.39, 1.5],
      ],
      asks: [[0.44, 2]],
    };
    expect(await world.bodyOf(path)).toEqual({
      books: [
        {
          ...{ ...YES, contract_id: 'm-yes', ...stood, last: 0.5, sequence: 5 },
          ...{ as_of: isoTime(silentSince), stale: true },
        },
      ],
    });
    expect(await world.bodyOf('/v1/marks?provider=venue_a&contract_id=m-yes')).toMatchObject({
      marks: [{ mark: 0.5, source: 'last', bid: 0.4, ask: 0.44, stale: true }],
    });
    const heartbeat = { sequence: 6n, snapshot: false, bids: [], asks: [], source_ts: world.now - SECOND };
    await world.shout(world.bookEvent('venue_a', heartbeat));
    expect(await world.bodyOf(path)).toMatchObject({
      books: [{ ...stood, sequence: 6, as_of: isoTime(world.now - SECOND), stale: false }],
    });
  });

  it('a book was crossed for a few messages (poly-websockets issue 25): it is withheld until a snapshot', async () => {
    await world.data.put('venue_a', world.listed('venue_a', 'm'));
    const crossing = { sequence: 6n, snapshot: false, bids: [{ price: 450_000, size: 1n }], asks: [] };
    await world.shout(world.bookEvent('venue_a'), world.bookEvent('venue_a', crossing));
    const path = '/v1/books?provider=venue_a&contract_id=m-yes';
    expect(await world.bodyOf(path)).toMatchObject({ books: [{ bids: [], asks: [], stale: true }] });
    expect(await world.bodyOf('/v1/marks?provider=venue_a&contract_id=m-yes')).toMatchObject({
      marks: [{ mark: null, source: null, stale: true }],
    });
    await world.shout(world.bookEvent('venue_a', { sequence: 9n }));
    expect(await world.bodyOf(path)).toMatchObject({
      books: [{ asks: [[0.44, 2]], sequence: 9, stale: false }],
    });
  });

  it('the age of a snapshot was unknown (py-clob-client-v2 issue 117): books have their own time besides that of the data', async () => {
    await world.data.say('venue_a', { asOf: world.now - SECOND });
    await world.data.put('venue_a', world.listed('venue_a', 'm'));
    await world.shout(world.bookEvent('venue_a', { source_ts: world.now - 3 * SECOND }));
    const path = '/v1/books?provider=venue_a&contract_id=m-yes';
    const { body } = await eventually(async () => {
      const reply = await world.get(path);
      expect(reply.headers['x-data-as-of']).toBe(isoTime(world.now - SECOND));
      return reply;
    });
    expect(body).toMatchObject({ books: [{ as_of: isoTime(world.now - 3 * SECOND), sequence: 5 }] });
  });

  it('a market settled early and its scheduled end stayed in the future (forecastbench issue 280): the resolution has its own time', async () => {
    const listed = world.listed('venue_a', 'm', { expires_at: world.now + 86_400 * SECOND });
    await world.data.put('venue_a', listed, world.resolution('venue_a', 'm', { payouts: [0, 1_000_000] }));
    expect(await world.bodyOf('/v1/resolutions?provider=venue_a&contract_id=m')).toMatchObject({
      resolutions: [
        { contract_id: 'm', status: 'resolved', resolved_at: isoTime(world.now - 80), settled_at: null },
      ],
    });
  });
});

describe('GET /v1/books', () => {
  it('has a row for each outcome, even without a book, and accepts at most 50 contracts', async () => {
    await world.data.put('venue_a', world.listed('venue_a', 'm'));
    await world.shout(world.bookEvent('venue_a', { outcome_index: 1 }));
    expect(await world.bodyOf('/v1/books?provider=venue_a&contract_id=m')).toEqual({
      books: [
        { ...YES, bids: [], asks: [], last: null, sequence: null, as_of: null, stale: false },
        {
          ...{
            ...NO,
            bids: [
              [0.4, 3],
              [0.39, 1.5],
            ],
            asks: [[0.44, 2]],
            last: null,
          },
          ...{ sequence: 5, as_of: isoTime(world.now), stale: false },
        },
      ],
    });
    const ids = (count: number): string => Array.from({ length: count }, (_, n) => `x${n}`).join(',');
    expect(await world.bodyOf(`/v1/books?provider=venue_a&contract_id=${ids(50)}`)).toEqual({ books: [] });
    expect((await world.get(`/v1/books?provider=venue_a&contract_id=${ids(51)}`)).status).toBe(422);
    expect((await world.get(`/v1/marks?provider=venue_a&contract_id=${ids(101)}`)).status).toBe(422);
  });

  it.each(['depth=0', 'depth=201', 'depth=2.5', 'contract_id=', 'asset_id='])('%s is 422', async (wrong) => {
    const prefix = wrong.startsWith('contract_id') ? '' : '&contract_id=m';
    expect((await world.get(`/v1/books?provider=venue_a${prefix}&${wrong}`)).status).toBe(422);
  });
});

describe('tick sizes', () => {
  const contract = {
    ...{ tick_size: 10_000, min_price: 10_000, max_price: 990_000 },
    bands: [{ start: 0, end: 100_000, step: 1_000 }],
  };
  const row = (): object => ({
    ...{
      provider: 'venue_a',
      contract_id: 'm',
      asset_id: null,
      tick_size: 0.01,
      min_price: 0.01,
      max_price: 0.99,
    },
    ...{ bands: [{ start: 0, end: 0.1, step: 0.001 }], as_of: isoTime(world.now - 3_600 * SECOND) },
  });
  const batch = (body: object): Promise<WorldReply> =>
    world.data.ask('/v1/markets/tick-size/batch', { method: 'POST', on: 'companion', body });

  it('are found by any id of a contract, and by an asset of that contract only', async () => {
    await world.data.put(
      'venue_a',
      world.listed('venue_a', 'm', { contract }),
      world.listed('venue_a', 'bare', { contract: undefined }),
    );
    const path = '/v1/markets/tick-size?provider=venue_a&contract_id=';
    expect(await world.bodyOf(`${path}m`)).toEqual(row());
    expect(await world.bodyOf(`${path}c-m&asset_id=m-no`)).toEqual({
      ...row(),
      contract_id: 'c-m',
      asset_id: 'm-no',
    });
    expect(await world.bodyOf(`${path}m-yes`)).toEqual({ ...row(), contract_id: 'm-yes', asset_id: 'm-yes' });
    expect(await world.bodyOf(`${path}bare`)).toMatchObject({ tick_size: null, min_price: null, bands: [] });
    for (const unknown of ['x', 'm&asset_id=bare-yes', 'm-yes&asset_id=m-no']) {
      const { status, body } = await world.get(path + unknown);
      const [id = ''] = unknown.split('&');
      expect([status, body]).toEqual([404, { detail: `Contract not found: ${id}` }]);
    }
  });

  it('of many contracts come in order, each with its own error', async () => {
    await world.data.put('venue_a', world.listed('venue_a', 'm', { contract }));
    await world.data.put('venue_f', world.listed('venue_f', 'm', { contract }));
    const { status, body } = await batch({
      items: [
        { provider: 'venue_f', contract_id: 'm' },
        { provider: 'venue_x', contract_id: 'm' },
        { provider: ' Venue_A ', contract_id: 'm', asset_id: 'm-yes' },
        { provider: 'venue_a', contract_id: 'x', ignored: 1 },
      ],
    });
    expect([status, body]).toEqual([
      200,
      {
        results: [
          { index: 0, ...row(), provider: 'venue_f' },
          { index: 1, error: 'Unknown provider: venue_x' },
          { index: 2, ...row(), asset_id: 'm-yes' },
          { index: 3, error: 'Contract not found: x' },
        ],
      },
    ]);
    const item = { provider: 'venue_a', contract_id: 'm' };
    for (const items of [undefined, [], Array.from({ length: 101 }, () => item), [{ provider: 'venue_a' }]]) {
      expect((await batch({ items })).status).toBe(422);
    }
  });
});
