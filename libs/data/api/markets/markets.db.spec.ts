import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MarketDataEvent, MarketEvent } from '#libs/data/rules/events.js';
import { activeFlag } from '#libs/data/rules/flags.js';
import type { Provider } from '#libs/data/rules/providers.js';
import { marketEvent, tradeEvent } from '#libs/testing/data/streams.js';
import { MarketsWorld } from '#libs/testing/data/markets-world.js';
import type { RequestHeaders } from '#libs/testing/data/data-callers.js';
import { eventually } from '#libs/testing/eventually.js';
import type { WorldReply } from '#libs/testing/data/data-world.js';

const HOUR = 3_600_000_000;

let world: MarketsWorld;
let now: number;

const put = (provider: Provider, ...events: MarketDataEvent[]): Promise<void> =>
  world.put(provider, ...events);

const plain = (provider: Provider, id: string, over: Partial<MarketEvent> = {}): MarketEvent => ({
  ...{ type: 'MARKET', provider, market_id: id, source_id: id, source_ts: now - 30 * HOUR, received_at: now },
  ...{ name: `Will ${id}?`, outcomes: [{ label: 'Yes' }, { label: 'No' }], ...over },
});
let trades = 0;
const trade = (
  provider: Provider,
  id: string,
  price: number,
  dollars: number,
  hoursAgo = 1,
  outcome = 0,
): MarketDataEvent =>
  tradeEvent(provider, id, {
    ...{ source_id: `t${(trades += 1)}`, source_ts: now - hoursAgo * HOUR, outcome_index: outcome, price },
    size: BigInt(Math.round((dollars * 1e12) / price)),
  });
const statusEvent = (
  provider: Provider,
  id: string,
  type: 'STATUS' | 'RESOLUTION',
  status: string,
): MarketDataEvent =>
  ({
    ...{
      type,
      provider,
      market_id: id,
      source_id: `${id} ${status}`,
      source_ts: now - HOUR,
      received_at: now,
      status,
    },
    ...(type === 'RESOLUTION' ? { payouts: [0, 1_000_000] } : {}),
  }) as MarketDataEvent;

beforeAll(async () => {
  world = await MarketsWorld.open();
  now = world.now();
});
afterAll(async () => {
  await world.close();
  expect(world.data.faults).toEqual([]);
});

describe('GET /markets/active', () => {
  const active = (parameters: Record<string, string | number> = {}): Promise<WorldReply> =>
    world.get('/markets/active', parameters);
  const idsOf = ({ body }: WorldReply): string[] =>
    (body as { markets: { market_id: string }[] }).markets.map(({ market_id }) => market_id);
  const cursorOf = ({ body }: WorldReply): string => String((body as { next_cursor: unknown }).next_cursor);

  it('is 503 before there is a snapshot, and never an empty page', async () => {
    const { status, body, headers } = await active({ provider: 'venue_e' });
    expect([status, body, headers['cache-control']]).toEqual([
      503,
      { detail: 'Snapshot unavailable' },
      'no-store',
    ]);
  });

  it('pages through one snapshot of open markets by id while they change', async () => {
    await put(
      'venue_a',
      ...['a1', 'a2', 'a3', 'a4', 'a5'].map((id) => marketEvent('venue_a', id, now - 30 * HOUR)),
      plain('venue_a', 'a9', { raw: { any: 1 }, status: 'closed' }),
    );
    await world.snapshot('venue_a');
    const first = await active({ limit: 2 });
    expect(first.status).toBe(200);
    expect(first.headers['cache-control']).toBe('private, max-age=5');
    expect(first.headers['x-data-as-of']).toBe(world.asOf('venue_a'));
    expect(first.headers.etag).toMatch(/^W\//);
    expect(first.body).toMatchObject({
      ...{
        provider: 'venue_a',
        exchange_id: 'venue_a',
        count: 2,
        has_more: true,
        source: 'market_metadata_cache',
      },
      next_cursor: expect.stringMatching(/^[\w-]{1,512}$/),
    });
    expect(Object.keys(first.body as object)).toEqual([
      ...['provider', 'exchange_id', 'markets', 'count', 'next_cursor', 'has_more', 'source'],
    ]);

    await put('venue_a', plain('venue_a', 'a25'), statusEvent('venue_a', 'a3', 'STATUS', 'closed'));
    world.clock.leap(30_000);
    await world.snapshot('venue_a');
    const second = await active({ limit: 2, cursor: cursorOf(first) });
    const last = await active({ limit: 2, cursor: cursorOf(second), provider: ' VENUE_A ' });
    expect([first, second, last].map(idsOf)).toEqual([['a1', 'a2'], ['a3', 'a4'], ['a5']]);
    expect(last.body).toMatchObject({ count: 1, next_cursor: null, has_more: false });
    expect(idsOf(await active())).toEqual(['a1', 'a2', 'a25', 'a4', 'a5']);
  });

  it('shows ids, outcomes and the raw payload, or the MARKET event without one', async () => {
    await put('venue_a', plain('venue_a', 'a0', { raw: { any: [1] }, condition_id: 'c0' }));
    await world.snapshot('venue_a');
    const { body } = await active({ limit: 2 });
    expect(body).toMatchObject({
      markets: [
        {
          ...{ market_id: 'a0', condition_id: 'c0', title: 'Will a0?', status: 'active', raw: { any: [1] } },
          outcomes: [
            { outcome: 'Yes', token_id: null },
            { outcome: 'No', token_id: null },
          ],
        },
        {
          market_id: 'a1',
          raw: { type: 'MARKET', market_id: 'a1', contract: { tick_size: 0.01, lot_size: 1 } },
        },
      ],
    });
  });

  it('refuses a cursor that was changed, is of another provider, or is too old', async () => {
    const cursor = cursorOf(await active({ limit: 1 }));
    const changed = `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`;
    const refused = [400, { detail: 'Invalid or expired cursor' }];
    for (const parameters of [{ cursor: changed }, { cursor: 'x' }, { cursor, provider: 'venue_c' }]) {
      const { status, body } = await active(parameters);
      expect([status, body]).toEqual(refused);
    }
    expect((await active({ limit: 250, cursor })).status).toBe(200);
    world.clock.leap(601_000);
    await world.snapshot('venue_a');
    const { status, body } = await active({ cursor });
    expect([status, body]).toEqual(refused);
  });

  it('is 503 once the newest snapshot is over two minutes old, also with a cursor', async () => {
    const cursor = cursorOf(await active({ limit: 1 }));
    world.clock.leap(121_000);
    for (const parameters of [{}, { cursor }]) {
      const { status, body } = await active(parameters);
      expect([status, body]).toEqual([503, { detail: 'Snapshot unavailable' }]);
    }
    await world.snapshot('venue_a');
    expect((await active({ cursor })).status).toBe(200);
  });

  it('refuses bad parameters and unknown providers', async () => {
    for (const parameters of [
      { limit: 0 },
      { limit: 251 },
      { limit: '2.5' },
      { provider: '' },
      { cursor: 'x'.repeat(513) },
    ]) {
      expect((await active(parameters)).status).toBe(422);
    }
    for (const provider of ['Nobody', 'venue_f', ' venue_x']) {
      const { status, body } = await active({ provider });
      expect([status, body]).toEqual([400, { detail: `Unknown provider: ${provider}` }]);
    }
  });

  it('treats a provider that operators switched off as unknown', async () => {
    await world.flags.set(activeFlag('venue_a'), { enabled: false, reason: null, updatedAt: now });
    world.clock.leap(6_000);
    const replies = [
      await active({ provider: 'VENUE_A' }),
      await world.get('/markets/metadata', { provider: 'VENUE_A', ticker: 'a1' }),
    ];
    await world.flags.remove(activeFlag('venue_a'));
    world.clock.leap(6_000);
    expect(replies.map(({ status, body }) => [status, body])).toEqual([
      ...[
        [400, { detail: 'Unknown provider: VENUE_A' }],
        [400, { detail: 'Unknown provider: VENUE_A' }],
      ],
    ]);
    expect((await active()).status).toBe(200);
  });
});

describe('POST /markets/details', () => {
  const details = (...markets: object[]): Promise<WorldReply> => world.post('/markets/details', { markets });

  it('has rows in order of the request, by any id, each market once, none for unknown ids', async () => {
    await put('venue_b', plain('venue_b', 'a1', { event_id: 'eb', category: 'science' }));
    const reply = await details(
      ...[
        { market_id: 'a1', provider_id: 1 },
        { market_id: 'a2-no', provider_id: 2 },
        { market_id: 'a1', provider_id: 2 },
      ],
      ...[
        { market_id: 'c-a2', provider_id: 2 },
        { market_id: 'nothing', provider_id: 2 },
        { market_id: 'a1', provider_id: -7 },
      ],
    );
    expect(reply.headers['cache-control']).toBe('private, max-age=60');
    expect(reply.headers['x-data-as-of']).toBe(world.asOf('venue_a', 'venue_b'));
    const ofA = (id: string): object => ({
      ...{
        market_id: id,
        provider_id: 2,
        event_id: null,
        name: `Will ${id}?`,
        category: null,
        status: 'active',
      },
      ...{
        condition_id: `c-${id}`,
        token_id: `${id}-yes`,
        token_ids: [`${id}-yes`, `${id}-no`],
        outcomes: ['Yes', 'No'],
      },
    });
    expect(reply.body).toEqual({
      markets: [
        {
          ...{
            market_id: 'a1',
            provider_id: 1,
            event_id: 'eb',
            name: 'Will a1?',
            category: 'science',
            status: 'open',
          },
          ...{ condition_id: null, token_id: null, token_ids: [], outcomes: [] },
        },
        ...[ofA('a2'), ofA('a1')],
      ],
    });
  });

  it('refuses empty and too long lists, and bad ids and numbers', async () => {
    const pair = { market_id: 'a1', provider_id: 2 };
    const wrong = [
      ...[
        [],
        Array.from({ length: 501 }, () => pair),
        [{ ...pair, provider_id: '2' }],
        [{ ...pair, provider_id: 2.5 }],
      ],
      ...[
        [{ provider_id: 2 }],
        [{ ...pair, market_id: '' }],
        [{ ...pair, market_id: 'x'.repeat(129) }],
        ['a1'],
      ],
    ];
    for (const markets of wrong) expect((await world.post('/markets/details', { markets })).status).toBe(422);
    expect((await world.post('/markets/details', {})).status).toBe(422);
    const most = await world.post('/markets/details', { markets: Array.from({ length: 500 }, () => pair) });
    expect([most.status, (most.body as { markets: object[] }).markets.length]).toEqual([200, 1]);
  });
});

describe('POST /markets/batch-prices', () => {
  const prices = (...markets: (readonly [string, number])[]): Promise<WorldReply> =>
    world.post('/markets/batch-prices', {
      markets: markets.map(([market_id, provider_id]) => ({ market_id, provider_id })),
    });
  const setBook = (
    provider: Provider,
    market_id: string,
    bid: number,
    ask: number,
    ageSeconds = 0,
  ): Promise<void> => {
    const book = {
      ...{ sequence: 1n, source_ts: world.now() - ageSeconds * 1_000_000, isDropped: false },
      bids: [{ price: bid, size: 2_000_000n }],
      asks: [{ price: ask, size: 1_000_000n }],
    };
    return world.books.write(provider, [{ market_id, outcome_index: 0, book }]);
  };

  it('are cents for venue_b and 0 to 1 for others, from payout, mid or last trade, with volume for display', async () => {
    await put(
      'venue_b',
      plain('venue_b', 'p-mid'),
      plain('venue_b', 'p-stale'),
      trade('venue_b', 'p-stale', 300_000, 12_345),
    );
    await put(
      'venue_b',
      plain('venue_b', 'p-paid'),
      trade('venue_b', 'p-paid', 400_000, 950),
      statusEvent('venue_b', 'p-paid', 'RESOLUTION', 'resolved'),
    );
    await put(
      'venue_e',
      plain('venue_e', 'e-last'),
      trade('venue_e', 'e-last', 125_000, 4_449_999.5),
      plain('venue_e', 'e-none'),
    );
    await setBook('venue_b', 'p-mid', 470_000, 480_000);
    await setBook('venue_b', 'p-stale', 470_000, 480_000, 11);
    const { body, headers } = await prices(
      ...([
        ['p-mid', 1],
        ['p-stale', 1],
        ['p-paid', 1],
        ['e-last', 9],
        ['e-none', 9],
        ['unknown', 9],
      ] as const),
    );
    expect(body).toEqual({
      'p-mid': { price: 47.5, volume: null, liquidity: 1.42 },
      'p-stale': { price: 30, volume: '$12.3K', liquidity: null },
      'p-paid': { price: 0, volume: '$950', liquidity: null },
      'e-last': { price: 0.125, volume: '$4.4M', liquidity: null },
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-data-as-of']).toBe(world.asOf('venue_b', 'venue_e'));
  });

  it('are those of the outcome for a token id, and of the first outcome for a market or condition id', async () => {
    await put(
      'venue_c',
      marketEvent('venue_c', 'c1', now - 2 * HOUR),
      trade('venue_c', 'c1', 200_000, 10),
      trade('venue_c', 'c1', 700_000, 5, 1, 1),
    );
    const { body } = await prices(['c1', 8], ['c-c1', 8], ['c1-yes', 8], ['c1-no', 8]);
    expect(body).toEqual({
      c1: { price: 0.2, volume: '$15', liquidity: null },
      'c-c1': { price: 0.2, volume: '$15', liquidity: null },
      'c1-yes': { price: 0.2, volume: '$10', liquidity: null },
      'c1-no': { price: 0.7, volume: '$5', liquidity: null },
    });
  });

  it('two providers share an id: the first in the request gets the plain key, the other a prefix', async () => {
    await put('venue_e', plain('venue_e', 'both'), trade('venue_e', 'both', 100_000, 1));
    await put('venue_c', plain('venue_c', 'both'), trade('venue_c', 'both', 900_000, 1));
    expect((await prices(['both', 8], ['both', 9], ['both', 8])).body).toMatchObject({
      both: { price: 0.9 },
      '9:both': { price: 0.1 },
    });
    // venue_b does not know it, but was named first: no caller may take the price of venue_e for that of venue_b.
    expect((await prices(['both', 1], ['both', 9])).body).toEqual({
      '9:both': { price: 0.1, volume: '$1', liquidity: null },
    });
  });

  it('leaves out venue_d, and refuses a number that is no provider', async () => {
    await put('venue_d', plain('venue_d', 'd1'), trade('venue_d', 'd1', 100_000, 1));
    const { status, body } = await prices(['d1', 3]);
    expect([status, body]).toEqual([200, {}]);
    const unknown = await prices(['d1', 3], ['x', 4]);
    expect([unknown.status, unknown.body]).toEqual([400, { detail: 'Unknown provider: 4' }]);
    for (const markets of [[], [['', 1]], Array.from({ length: 301 }, () => ['a', 1])] as [
      string,
      number,
    ][][]) {
      expect((await prices(...markets)).status).toBe(422);
    }
  });
});

describe('GET /markets/tick-size', () => {
  it('is gone for every request and caller, and tells the new location', async () => {
    for (const target of ['/markets/tick-size', '/markets/tick-size?provider=nobody']) {
      const { status, body, headers } = await world.data.ask(target);
      expect([status, body, headers['x-ratelimit-limit']]).toEqual([
        410,
        { detail: expect.any(String), moved_to: `${world.data.url('companion')}/v1/markets/tick-size` },
        undefined,
      ]);
    }
  });
});

describe('access', () => {
  let unmoved: MarketsWorld;
  let key: RequestHeaders;
  beforeAll(async () => {
    unmoved = await MarketsWorld.open();
    const { callers } = unmoved.data;
    const user = await callers.user();
    const session = await callers.session(user);
    key = await callers.key([], { user });
    await eventually(async () => {
      expect(
        (await unmoved.data.ask('/markets/outcomes?provider_id=1&market_id=x', { headers: session })).status,
      ).toBe(200);
    });
    await unmoved.put('venue_a', marketEvent('venue_a', 'a1'));
    await unmoved.snapshot('venue_a');
  });
  afterAll(() => unmoved.close());

  const routes = [
    '/markets/active',
    '/markets/metadata?provider=venue_a&ticker=a1',
    '/markets/outcomes?provider_id=2&market_id=a1',
  ];

  it('is given to every caller with a credential, even a key without scopes, and to no other', async () => {
    for (const target of routes) {
      expect((await unmoved.data.ask(target, { headers: key })).status).toBe(200);
      expect((await unmoved.data.ask(target)).status).toBe(401);
    }
    for (const path of ['/markets/details', '/markets/batch-prices', '/markets/metadata/batch']) {
      expect((await unmoved.data.ask(path, { method: 'POST', body: {} })).status).toBe(401);
      expect((await unmoved.data.ask(path, { method: 'POST', body: {}, headers: key })).status).toBe(422);
      expect((await unmoved.data.ask(path, { headers: key })).status).toBe(405);
    }
  });

  it('a reply that the caller already has is answered with 304', async () => {
    const [target = ''] = routes;
    const first = await unmoved.data.ask(target, { headers: key });
    const again = await unmoved.data.ask(target, {
      headers: { ...key, 'if-none-match': String(first.headers.etag) },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('a snapshot that cannot be read is 503, and never an empty page', async () => {
    const { pool } = unmoved.data.ingest.database;
    await pool.query('alter table data.snapshot_markets rename to gone');
    const { status, body } = await unmoved.data.ask('/markets/active', { headers: key });
    await pool.query('alter table data.gone rename to snapshot_markets');
    expect([status, body]).toEqual([503, { detail: 'Snapshot unavailable' }]);
    expect(unmoved.data.faults).toHaveLength(1);
    expect((await unmoved.data.ask('/markets/active', { headers: key })).status).toBe(200);
  });
});
