import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CompanionWorld, SECOND } from '#libs/testing/data/companion-world.js';
import { applied } from '#libs/testing/data/ingest-world.js';
import { Snapshots } from '../../ingest/snapshots.js';
import type { MarketDataEvent, TickEvent } from '../../rules/events.js';
import { PROVIDERS } from '../../rules/providers.js';
import { isoTime } from '../../rules/times.js';

jest.setTimeout(120_000);

let world: CompanionWorld;

beforeAll(async () => {
  world = await CompanionWorld.open();
});
afterEach(() => world.data.ingest.empty());
afterAll(() => world.close());

describe('GET /v1/markets', () => {
  const snapshot = (): Promise<void> =>
    new Snapshots({
      pool: world.data.ingest.database.pool,
      clock: world.clock,
      onFault: () => undefined,
    }).take();

  it('lists ids and names, and all pages come from one snapshot while markets are added', async () => {
    const bare = { condition_id: undefined, outcomes: [{ label: 'Yes' }, { label: 'No' }] };
    await world.data.put(
      'venue_f',
      world.listed('venue_f', 'b'),
      world.listed('venue_f', 'a', bare),
      world.listed('venue_f', 'd'),
    );
    await snapshot();
    const rowOf = (id: string): object => ({
      ...{ market_id: id, condition_id: `c-${id}` },
      outcomes: [
        { outcome: 'Yes', token_id: `${id}-yes` },
        { outcome: 'No', token_id: `${id}-no` },
      ],
    });
    const bareRow = {
      ...{ market_id: 'a', condition_id: null },
      outcomes: [
        { outcome: 'Yes', token_id: null },
        { outcome: 'No', token_id: null },
      ],
    };
    const first = await world.bodyOf('/v1/markets?provider=venue_f&limit=2');
    expect(first).toEqual({
      ...{ exchange_id: 'venue_f', markets: [bareRow, rowOf('b')], count: 2, has_more: true },
      next_cursor: expect.any(String),
    });
    await world.data.put('venue_f', world.listed('venue_f', 'c'));
    await snapshot();
    expect(await world.bodyOf(`/v1/markets?provider=venue_f&limit=9&cursor=${cursorOf(first)}`)).toEqual({
      ...{ exchange_id: 'venue_f', markets: [rowOf('d')], count: 1, has_more: false, next_cursor: null },
    });
    expect(await world.bodyOf('/v1/markets?provider=venue_f&limit=1')).toMatchObject({
      count: 1,
      has_more: true,
    });
    const foreign = await world.get(`/v1/markets?provider=venue_a&cursor=${cursorOf(first)}`);
    expect([foreign.status, foreign.body]).toEqual([400, { detail: 'Invalid or expired cursor' }]);
  });

  it('is 503 without a snapshot, and never an empty page', async () => {
    const { status, body } = await world.get('/v1/markets?provider=venue_a');
    expect([status, body]).toEqual([503, { detail: 'Snapshot unavailable' }]);
  });
});

function cursorOf(body: unknown): string {
  const cursor: unknown =
    typeof body === 'object' && body !== null && 'next_cursor' in body && body.next_cursor;
  if (typeof cursor !== 'string') throw new Error('there is no next page');
  return cursor;
}

describe('GET /v1/synthetics', () => {
  const rowOf = (id: string, over: object = {}): object => ({
    ...{ synthetic_id: `complement:venue_b:${id}`, kind: 'complement' },
    ...{ legs: [{ provider: 'venue_b', contract_id: id, weight: -1 }], mark: null, as_of: null, ...over },
  });

  it('lists the complement of each market of venue_b, page by page while markets are added', async () => {
    await world.data.put(
      'venue_b',
      world.listed('venue_b', 'm'),
      world.listed('venue_b', 'a'),
      world.listed('venue_b', 'z'),
    );
    await world.data.put('venue_a', world.listed('venue_a', 'm'));
    await world.shout(world.bookEvent('venue_b'));
    const first = await world.bodyOf('/v1/synthetics?provider=venue_b&limit=2');
    expect(first).toEqual({
      synthetics: [rowOf('a'), rowOf('m', { mark: 0.58, as_of: isoTime(world.now) })],
      next_cursor: expect.any(String),
    });
    await world.data.put('venue_b', world.listed('venue_b', 'b'), world.listed('venue_b', 'n'));
    expect(await world.bodyOf(`/v1/synthetics?provider=venue_b&cursor=${cursorOf(first)}`)).toEqual({
      synthetics: [rowOf('n'), rowOf('z')],
      next_cursor: null,
    });
    for (const provider of PROVIDERS.filter((each) => each !== 'venue_b')) {
      expect(await world.bodyOf(`/v1/synthetics?provider=${provider}`)).toEqual({
        synthetics: [],
        next_cursor: null,
      });
    }
  });

  it('with an underlying, finds it by any of its ids; the synthetic pays when its leg does not', async () => {
    const paid = world.resolution('venue_b', 'm', { payouts: [1_000_000, 0] });
    await world.data.put('venue_b', world.listed('venue_b', 'm'), world.listed('venue_b', 'n'), paid);
    for (const id of ['m', 'c-m', 'm-no']) {
      expect(await world.bodyOf(`/v1/synthetics?provider=venue_b&underlying=${id}`)).toEqual({
        synthetics: [rowOf('m', { mark: 0, as_of: isoTime(world.now - 80) })],
        next_cursor: null,
      });
    }
    expect(await world.bodyOf('/v1/synthetics?provider=venue_b&underlying=x')).toMatchObject({
      synthetics: [],
    });
  });
});

describe('GET /v1/resolutions', () => {
  const ids = (body: unknown): string[] =>
    (body as { resolutions: { contract_id: string }[] }).resolutions.map(({ contract_id }) => contract_id);
  const at = (seconds: number): { payouts: number[]; at: number } => ({
    ...{ payouts: [1_000_000, 0], at: world.now - 1_000 * SECOND + seconds * SECOND },
  });
  const many = (): MarketDataEvent[][] =>
    ['a', 'b', 'c', 'd'].map((id, index) => [
      world.listed('venue_a', id),
      world.resolution('venue_a', id, at(index)),
    ]);

  it('lists void payouts, disputes, and markets that were settled without a resolution', async () => {
    await world.data.put(
      'venue_b',
      ...['void', 'settled', 'paid', 'open'].map((id) => world.listed('venue_b', id)),
      world.resolution('venue_b', 'void', {
        payouts: [250_000, 750_000],
        at: world.now - 30,
        disputed: true,
      }),
      world.resolution('venue_b', 'settled', {
        payouts: [0, 1_000_000],
        at: world.now - 20,
        status: 'settled',
      }),
      world.resolution('venue_b', 'paid', { payouts: [1_000_000, 0], at: world.now - 10 }),
      {
        ...{ type: 'STATUS', provider: 'venue_b', market_id: 'paid', source_id: 's', status: 'settled' },
        ...{ source_ts: world.now - 5, received_at: world.now },
      },
    );
    const common = { source_url: null, disputed: false };
    expect(await world.bodyOf('/v1/resolutions?provider=venue_b')).toEqual({
      resolutions: [
        {
          ...{ contract_id: 'paid', status: 'settled', outcome_index: 0, payout: [1, 0], ...common },
          ...{ resolved_at: isoTime(world.now - 10), settled_at: isoTime(world.now - 5) },
        },
        {
          ...{ contract_id: 'settled', status: 'settled', outcome_index: 1, payout: [0, 1], ...common },
          ...{ resolved_at: isoTime(world.now - 20), settled_at: isoTime(world.now - 20) },
        },
        {
          ...{
            contract_id: 'void',
            status: 'resolved',
            outcome_index: null,
            payout: [0.25, 0.75],
            ...common,
          },
          ...{ resolved_at: isoTime(world.now - 30), settled_at: null, disputed: true },
        },
      ],
      next_cursor: null,
    });
  });

  it('pages newest first, without repeats when newer ones arrive', async () => {
    await world.data.put('venue_a', ...many().flat());
    const first = await world.bodyOf('/v1/resolutions?provider=venue_a&limit=2');
    expect(ids(first)).toEqual(['d', 'c']);
    await world.data.put('venue_a', world.listed('venue_a', 'e'), world.resolution('venue_a', 'e', at(9)));
    const second = await world.bodyOf(`/v1/resolutions?provider=venue_a&limit=2&cursor=${cursorOf(first)}`);
    expect(ids(second)).toEqual(['b', 'a']);
    expect(second).toMatchObject({ next_cursor: null });
  });

  it('pages from a time on, oldest first and inclusive, and finds those that arrive meanwhile', async () => {
    await world.data.put('venue_a', ...many().flat());
    const path = `/v1/resolutions?provider=venue_a&limit=2&since=${isoTime(at(1).at)}`;
    const first = await world.bodyOf(path);
    expect(ids(first)).toEqual(['b', 'c']);
    await world.data.put('venue_a', world.listed('venue_a', 'e'), world.resolution('venue_a', 'e', at(9)));
    expect(ids(await world.bodyOf(`${path}&cursor=${cursorOf(first)}`))).toEqual(['d', 'e']);
    expect((await world.get(`/v1/resolutions?provider=venue_a&cursor=${cursorOf(first)}`)).status).toBe(400);
  });

  it('filters by contracts and shows the ids that were sent; unknown and open ones are absent', async () => {
    await world.data.put('venue_a', ...many().flat(), world.listed('venue_a', 'open'));
    const body = await world.bodyOf('/v1/resolutions?provider=venue_a&contract_id=b-no,open,x,c-d,d');
    expect(ids(body)).toEqual(['c-d', 'b-no']);
  });

  it('leaves out a market that trades again', async () => {
    const reopened: MarketDataEvent = {
      ...{ type: 'STATUS', provider: 'venue_a', market_id: 'a', source_id: 's', status: 'active' },
      ...{ source_ts: world.now, received_at: world.now },
    };
    await world.data.put('venue_a', ...many().flat(), reopened);
    expect(ids(await world.bodyOf('/v1/resolutions?provider=venue_a'))).toEqual(['d', 'c', 'b']);
  });
});

it('GET /v1/perpetuals lists the newest tick of each symbol, labelled with the provider or with no provider', async () => {
  const tick = (symbol: string, over: Partial<TickEvent> = {}): TickEvent => ({
    ...{
      type: 'TICK',
      label: 'ticks',
      source: 'exchange_spot',
      class: 'perpetual',
      symbol,
      price: '64000.5',
    },
    ...{
      source_id: `${symbol} ${over.source_ts ?? world.now}`,
      source_ts: world.now,
      received_at: world.now,
    },
    content: {
      ...{
        index: '64001',
        funding_rate: '0.0000125',
        next_funding_at: isoTime(world.now),
        open_interest: '12.5',
      },
    },
    ...over,
  });
  const ingest = await world.data.ingest.open('labels');
  await ingest.resume();
  const events = [
    tick('BTC', { source: 'oracle_stream', price: '1', source_ts: world.now - 5 }),
    tick('BTC'),
    tick('ETH', { label: 'venue_e', price: '3000' }),
    tick('ETH-A', { label: 'venue_a' }),
    tick('DOGE', { class: 'crypto' }),
  ];
  await ingest.take('ticks', { events, cursor: '1', isCaughtUp: true });
  await applied(ingest);
  const row = (symbol: string, mark: number): object => ({
    ...{
      symbol,
      mark,
      index: 64001,
      funding_rate: 0.000013,
      next_funding_at: isoTime(world.now),
      open_interest: 12.5,
    },
  });
  expect(await world.bodyOf('/v1/perpetuals?provider=venue_e')).toEqual({
    perpetuals: [row('BTC', 64000.5), row('ETH', 3000)],
  });
  expect(await world.bodyOf('/v1/perpetuals?provider=venue_e&symbol=BTC')).toEqual({
    perpetuals: [row('BTC', 64000.5)],
  });
  expect(await world.bodyOf('/v1/perpetuals?provider=venue_e&symbol=%00')).toEqual({ perpetuals: [] });
});

describe('every route of the companion', () => {
  const paths = [
    'markets?',
    'marks?contract_id=m&',
    'books?contract_id=m&',
    'synthetics?',
    'resolutions?',
    'perpetuals?',
  ];

  it.each([...paths, 'markets/tick-size?contract_id=m&'])('%s needs a known provider', async (path) => {
    const unknown = await world.get(`/v1/${path}provider=venue_x`);
    expect([unknown.status, unknown.body]).toEqual([400, { detail: 'Unknown provider: venue_x' }]);
    expect((await world.get(`/v1/${path}`)).status).toBe(422);
  });

  it('answers without a credential or with a good one, not with a bad one, and must not be cached', async () => {
    const path = '/v1/resolutions?provider=venue_a';
    const anonymous = await world.get(path);
    expect([anonymous.status, anonymous.headers['cache-control']]).toEqual([200, 'no-store']);
    const headers = await world.data.callers.session();
    expect((await world.data.ask(path, { on: 'companion', headers })).status).toBe(200);
    const bad = { authorization: 'Bearer x' };
    expect((await world.data.ask(path, { on: 'companion', headers: bad })).status).toBe(401);
    expect((await world.data.ask(path)).status).toBe(404);
  });
});
