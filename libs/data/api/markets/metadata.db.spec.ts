import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MarketDataEvent, MarketEvent } from '#libs/data/rules/events.js';
import { hiddenFlag } from '#libs/data/rules/flags.js';
import type { Cancel } from '#libs/platform/time/clock.js';
import type { Provider } from '#libs/data/rules/providers.js';
import { isoTime } from '#libs/data/rules/times.js';
import { answers, MISBEHAVIOURS, type VenueManner } from '#libs/testing/data/played-venue.js';
import { marketEvent, tradeEvent } from '#libs/testing/data/streams.js';
import { MarketsWorld } from '#libs/testing/data/markets-world.js';
import type { WorldReply } from '#libs/testing/data/data-world.js';

const HOUR = 3_600_000_000;

let world: MarketsWorld;
let now: number;

const put = (provider: Provider, ...events: MarketDataEvent[]): Promise<void> =>
  world.put(provider, ...events);

const RULES = { primary: 'It does.', secondary: null, source: null };
const market = (provider: Provider, id: string, over: Partial<MarketEvent> = {}): MarketEvent => ({
  ...marketEvent(provider, id, now - 30 * HOUR),
  ...{ resolution_rules: RULES, ...over },
});

const LIVE = {
  ...{
    id: 'live',
    title: 'Live?',
    description: 'd',
    rules_primary: 'As the venue says',
    rules_secondary: null,
  },
  ...{
    rules_source: null,
    tick_size: 0.01,
    min_price: '0.01',
    max_price: 0.99,
    lot_size: 1,
    quote_currency: 'USDC',
  },
  ...{ expires_at: '2027-01-01T00:00:00Z', icon: 'i', banner: null, url: 'u', active: true },
  ...{ event_id: 'le', event_name: 'Live event' },
  outcomes: [
    { label: 'Yes', token_id: '7', price: 0.25 },
    { label: 'No', token_id: '8', price: null },
  ],
};
const ROW_OF_LIVE = {
  ...{ name: 'Live?', description: 'd' },
  resolution_rules: { primary: 'As the venue says', secondary: null, source: null },
  contract: {
    ...{ tick_size: 0.01, min_price: 0.01, max_price: 0.99, lot_size: 1, quote_currency: 'USDC' },
    ...{ settlement_ts: null, expires_at: '2027-01-01T00:00:00Z' },
  },
  images: { icon: 'i', banner: null },
  ...{ external_url: 'u', condition_id: null, event_id: null, ctf_neg_risk: null, extra: {}, active: true },
};

const lives: VenueManner = answers({ market: LIVE });
const knowsNothing: VenueManner = answers({ error: 'none' }, 404);
const misbehaviour = (name: string): VenueManner => {
  const manner = MISBEHAVIOURS[name];
  if (manner === undefined) throw new Error(name);
  return manner;
};

beforeAll(async () => {
  world = await MarketsWorld.open();
  now = world.now();
  await put('venue_a', market('venue_a', 'known', { ticker: 'TICK', event_id: 'e', condition_id: 'c' }));
  await put('venue_b', market('venue_b', 'blank', { resolution_rules: { ...RULES, primary: '  ' } }));
  await put('venue_e', market('venue_e', 'blank', { resolution_rules: { ...RULES, primary: '' } }));
});
beforeEach(() => {
  world.venue.behave(lives);
});
afterAll(async () => {
  await world.close();
  expect(world.data.faults).toEqual([]);
});

describe('GET /markets/metadata', () => {
  const metadata = (provider: string, ticker: string): Promise<WorldReply> =>
    world.get('/markets/metadata', { provider, ticker });
  const answerTo = async (provider: string, ticker: string): Promise<unknown[]> => {
    const { status, body } = await metadata(provider, ticker);
    return [status, body];
  };

  it('comes from the index by any id or ticker, which it repeats, without a request to the venue', async () => {
    const before = world.venue.asked.length;
    for (const ticker of ['known', 'c', 'known-no', 'TICK']) {
      const { status, body, headers } = await metadata(' Venue_A', ticker);
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('private, max-age=60');
      expect(headers['x-data-as-of']).toBe(world.asOf('venue_a'));
      expect(body).toEqual({
        ...{ ticker, provider: 'venue_a', name: 'Will known?', description: null, resolution_rules: RULES },
        contract: {
          ...{ tick_size: 0.01, min_price: null, max_price: null, lot_size: 1, quote_currency: null },
          ...{ settlement_ts: null, expires_at: null },
        },
        images: { icon: null, banner: null },
        ...{
          external_url: null,
          condition_id: 'c',
          event_id: 'e',
          ctf_neg_risk: null,
          extra: {},
          active: true,
        },
      });
    }
    expect(world.venue.asked).toHaveLength(before);
  });

  it('is read live by the ticker if the market is not indexed', async () => {
    const { status, body, headers } = await metadata('venue_c', 'a/b c');
    expect([status, body]).toEqual([200, { ticker: 'a/b c', provider: 'venue_c', ...ROW_OF_LIVE }]);
    expect(headers['x-data-as-of']).toBeUndefined();
    expect(world.venue.asked.at(-1)).toBe('/markets/a%2Fb%20c');
  });

  it('is 404 if the venue does not know the market or has no URL', async () => {
    world.venue.behave(knowsNothing);
    await expect(answerTo('venue_c', 'x y')).resolves.toEqual([
      404,
      { detail: 'Market metadata not found: x y' },
    ]);
    await expect(answerTo('venue_e', 'x')).resolves.toEqual([
      404,
      { detail: 'Market metadata not found: x' },
    ]);
  });

  it.each(Object.keys(MISBEHAVIOURS))('is 502 for a venue that %s', async (name) => {
    world.venue.behave(misbehaviour(name));
    await expect(answerTo('venue_c', 'x')).resolves.toEqual([502, { detail: 'Provider error: venue_c' }]);
  });

  it('is 502 if the venue does not listen, and 429 if it asks for fewer requests', async () => {
    await expect(answerTo('venue_d', 'x')).resolves.toEqual([502, { detail: 'Provider error: venue_d' }]);
    world.venue.behave(answers({}, 429));
    await expect(answerTo('venue_c', 'x')).resolves.toEqual([
      429,
      { detail: 'Provider error: rate limited' },
    ]);
  });

  it('takes only the rules from the venue if the index has none', async () => {
    const { body, headers } = await metadata('venue_b', 'blank-yes');
    expect(body).toMatchObject({
      ...{ ticker: 'blank-yes', name: 'Will blank?', resolution_rules: ROW_OF_LIVE.resolution_rules },
      ...{ contract: { max_price: null }, condition_id: 'c-blank', external_url: null },
    });
    expect(headers['x-data-as-of']).toBe(world.asOf('venue_b'));
    expect(world.venue.asked.at(-1)).toBe('/markets/blank');
  });

  it('a venue renamed its price fields: missing values are null and never 0, a value that is no price is 502', async () => {
    const renamed = { ...LIVE, tick_size: undefined, min_price: undefined, max_price: undefined };
    const outcomes = [{ label: 'Yes', token_id: '7', price_dollars: '0.25' }];
    world.venue.behave(answers({ market: { ...renamed, outcomes, tick_size_dollars: '0.01' } }));
    await expect(answerTo('venue_c', 'x')).resolves.toMatchObject([
      200,
      { contract: { tick_size: null, min_price: null, max_price: null } },
    ]);
    const shown = await world.get('/markets/outcomes', { market_id: 'x', provider_id: 2 });
    expect(shown.body).toMatchObject({ outcomes: [{ label: 'Yes', price: null }] });
    for (const price of ['', 'n/a', -1, 25]) {
      world.venue.behave(
        answers({ market: { ...LIVE, outcomes: [{ label: 'Yes', token_id: '7', price }] } }),
      );
      const { status, body } = await world.get('/markets/outcomes', { market_id: 'x', provider_id: 2 });
      expect([status, body]).toEqual([502, { detail: 'Provider error: venue_a' }]);
    }
  });

  it('has no rules if the venue fails, hangs, does not know the market or has no URL', async () => {
    for (const name of ['answers 500', 'never answers']) {
      world.venue.behave(misbehaviour(name));
      await expect(answerTo('venue_b', 'blank')).resolves.toMatchObject([
        200,
        { resolution_rules: { primary: '  ' } },
      ]);
    }
    world.venue.behave(knowsNothing);
    await expect(answerTo('venue_b', 'blank')).resolves.toMatchObject([200, { name: 'Will blank?' }]);
    await expect(answerTo('venue_e', 'blank')).resolves.toMatchObject([
      200,
      { resolution_rules: { primary: '' } },
    ]);
  });

  it('refuses missing, too long and unknown values', async () => {
    for (const parameters of [
      { provider: 'venue_a' },
      { ticker: 'x' },
      { provider: 'venue_a', ticker: 'x'.repeat(129) },
    ]) {
      expect((await world.get('/markets/metadata', parameters)).status).toBe(422);
    }
    await expect(answerTo('venue_f', 'x')).resolves.toEqual([400, { detail: 'Unknown provider: venue_f' }]);
  });

  it('a market settled before its scheduled end: active follows the status, and the scheduled end stays', async () => {
    const expires_at = now + 1_000 * HOUR;
    await put('venue_a', market('venue_a', 'early', { expires_at, settlement_ts: now - HOUR }), {
      ...{
        type: 'RESOLUTION',
        provider: 'venue_a',
        market_id: 'early',
        source_id: 'r',
        source_ts: now - HOUR,
      },
      ...{ received_at: now, status: 'resolved', payouts: [0, 1_000_000] },
    });
    const { body } = await metadata('venue_a', 'early');
    expect(body).toMatchObject({
      active: false,
      contract: { settlement_ts: isoTime(now - HOUR), expires_at: isoTime(expires_at) },
    });
  });
});

describe('POST /markets/metadata/batch', () => {
  const batch = (contracts: readonly (readonly [string, string])[], more: object = {}): Promise<WorldReply> =>
    world.post('/markets/metadata/batch', {
      contracts: contracts.map(([ticker, provider]) => ({ ticker, provider })),
      ...more,
    });

  it('has a row for every ticker: indexed, live, unknown, and failed', async () => {
    world.venue.behave((request, response) => {
      (request.url === '/markets/lost' ? knowsNothing : lives)(request, response);
    });
    const { status, body, headers } = await batch([
      ...([
        ['TICK', 'venue_a'],
        ['live', 'Venue_C'],
        ['lost', 'venue_b'],
        ['x', 'venue_d'],
        ['y', 'venue_e'],
      ] as const),
    ]);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('private, max-age=60');
    expect(headers['x-data-as-of']).toBe(world.asOf('venue_a'));
    expect(body).toEqual({
      TICK: expect.objectContaining({
        found: true,
        ticker: 'TICK',
        provider: 'venue_a',
        name: 'Will known?',
      }),
      live: { found: true, ticker: 'live', provider: 'venue_c', ...ROW_OF_LIVE },
      lost: { found: false, ticker: 'lost', provider: 'venue_b' },
      x: { found: false, ticker: 'x', provider: 'venue_d', error: 'Provider error: venue_d' },
      y: { found: false, ticker: 'y', provider: 'venue_e' },
    });
  });

  it('puts the second provider of a ticker under a key with its name', async () => {
    const { body } = await batch([
      ['blank', 'venue_b'],
      ['blank', 'venue_e'],
      ['blank', 'venue_b'],
    ]);
    expect(body).toEqual({
      blank: expect.objectContaining({ found: true, provider: 'venue_b' }),
      'venue_e:blank': expect.objectContaining({ found: true, provider: 'venue_e', ticker: 'blank' }),
    });
  });

  it('reads titles from the index only, without a request to any venue', async () => {
    const before = world.venue.asked.length;
    const { body } = await batch(
      [
        ['known', 'venue_a'],
        ['blank', 'venue_b'],
        ['none', 'venue_c'],
      ],
      { titles_only: true },
    );
    expect(body).toEqual({
      known: { found: true, ticker: 'known', provider: 'venue_a', name: 'Will known?' },
      blank: { found: true, ticker: 'blank', provider: 'venue_b', name: 'Will blank?' },
      none: { found: false, ticker: 'none', provider: 'venue_c' },
    });
    expect(world.venue.asked).toHaveLength(before);
  });

  it('leaves out hidden providers', async () => {
    await world.flags.set(hiddenFlag('venue_b'), { enabled: true, reason: null, updatedAt: now });
    world.clock.leap(6_000);
    const { body } = await batch([
      ['blank', 'venue_b'],
      ['blank', 'venue_e'],
    ]);
    await world.flags.remove(hiddenFlag('venue_b'));
    world.clock.leap(6_000);
    expect(Object.keys(body as object)).toEqual(['venue_e:blank']);
  });

  it('reads at most eight markets live at a time', async () => {
    let greatest = 0;
    const waiting: (() => void)[] = [];
    let cancel: Cancel = () => undefined;
    world.venue.behave((request, response) => {
      waiting.push(() => knowsNothing(request, response));
      greatest = Math.max(greatest, waiting.length);
      // Answers once no more requests arrive.
      cancel();
      cancel = world.clock.after(60, () => {
        for (const answer of waiting.splice(0)) answer();
      });
    });
    const { body } = await batch(Array.from({ length: 24 }, (_none, at) => [`t${at}`, 'venue_c'] as const));
    expect(Object.values(body as object)).toEqual(
      Array.from({ length: 24 }, () => expect.objectContaining({ found: false })),
    );
    expect(greatest).toBe(8);
  });

  it('refuses empty and too long lists, and names an unknown provider as it was sent', async () => {
    const wrong = [
      [],
      Array.from({ length: 101 }, () => ['a', 'venue_a'] as const),
      [['', 'venue_a'] as const],
    ];
    for (const contracts of wrong) expect((await batch(contracts)).status).toBe(422);
    expect((await batch([['a', 'venue_a']], { titles_only: 'yes' })).status).toBe(422);
    const { status, body } = await batch([
      ['a', 'venue_a'],
      ['b', ' Venue_Q'],
    ]);
    expect([status, body]).toEqual([400, { detail: 'Unknown provider:  Venue_Q' }]);
  });
});

describe('GET /markets/outcomes', () => {
  const outcomes = (
    market_id: string,
    provider_id: number | string,
    more: object = {},
  ): Promise<WorldReply> => world.get('/markets/outcomes', { market_id, provider_id, ...more });

  beforeAll(async () => {
    const ofEvent = { event_id: 'race', event_name: 'The race' };
    const noTokens = { outcomes: [{ label: 'Yes' }, { label: 'No' }] };
    await put(
      'venue_b',
      ...[
        market('venue_b', 'r2', { ...ofEvent, ...noTokens, expires_at: now + HOUR }),
        market('venue_b', 'r1', { ...ofEvent, ...noTokens }),
      ],
      market('venue_b', 'r3', { ...ofEvent, ...noTokens, status: 'closed' }),
      ...[
        [0, 300_000, 30],
        [1, 600_000, 60],
        [0, 100_000, 7],
      ].map(([outcome_index = 0, price = 0, dollars = 0], at) =>
        tradeEvent('venue_b', 'r1', {
          ...{ source_id: `r${at}`, outcome_index, price, size: BigInt((dollars * 1e12) / price) },
          source_ts: at === 2 ? now - 25 * HOUR : now - HOUR + at,
        }),
      ),
    );
  });

  it('are those of all open markets of the event, by market id and index', async () => {
    const { status, body, headers } = await outcomes('r2', 1);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('private, max-age=60');
    const row = { condition_id: 'c-r1', token_id: null, liquidity: null, status: 'open', expires_at: null };
    const second = {
      ...row,
      market_id: 'r2',
      condition_id: 'c-r2',
      price: null,
      volume_24h: 0,
      expires_at: expect.any(String),
    };
    expect(body).toEqual({
      ...{ event_id: 'race', event_name: 'The race', is_grouped: true, provider: 'venue_b' },
      outcomes: [
        // The last trade was No at 0.60, so Yes is at 0.40. Each volume is that of its own trades.
        { ...row, market_id: 'r1', label: 'Yes', outcome_index: 0, price: 0.4, volume_24h: 30 },
        { ...row, market_id: 'r1', label: 'No', outcome_index: 1, price: 0.6, volume_24h: 60 },
        { ...second, label: 'Yes', outcome_index: 0 },
        { ...second, label: 'No', outcome_index: 1 },
      ],
    });
  });

  it('include closed markets on request, and are empty for a single closed market', async () => {
    const idsOf = ({ body }: WorldReply): string[] =>
      (body as { outcomes: { market_id: string }[] }).outcomes.map(({ market_id }) => market_id);
    expect(idsOf(await outcomes('r3', 1, { include_closed: '1' }))).toEqual([
      'r1',
      'r1',
      'r2',
      'r2',
      'r3',
      'r3',
    ]);
    expect(idsOf(await outcomes('r3', 1, { include_closed: 'FALSE' }))).toEqual(['r1', 'r1', 'r2', 'r2']);
    await put('venue_e', market('venue_e', 'alone', { status: 'closed' }));
    expect((await outcomes('alone', 9)).body).toEqual({
      ...{ event_id: null, event_name: null, is_grouped: true, provider: 'venue_e', outcomes: [] },
    });
    expect(idsOf(await outcomes('alone-no', '09', { include_closed: true }))).toEqual(['alone', 'alone']);
  });

  it('of venue_a are read live if they are not indexed', async () => {
    const { body, headers } = await outcomes('live', 2);
    const row = { market_id: 'live', condition_id: null, volume_24h: null, liquidity: null, status: null };
    expect(body).toEqual({
      ...{ event_id: 'le', event_name: 'Live event', is_grouped: true, provider: 'venue_a' },
      outcomes: [
        {
          ...row,
          label: 'Yes',
          outcome_index: 0,
          token_id: '7',
          price: 0.25,
          expires_at: '2027-01-01T00:00:00Z',
        },
        {
          ...row,
          label: 'No',
          outcome_index: 1,
          token_id: '8',
          price: null,
          expires_at: '2027-01-01T00:00:00Z',
        },
      ],
    });
    expect(headers['x-data-as-of']).toBeUndefined();
  });

  it('are empty if no id is found, and 502 if venue_a cannot be read', async () => {
    const nothing = { event_id: null, event_name: null, is_grouped: true, outcomes: [] };
    const before = world.venue.asked.length;
    expect((await outcomes('none', 1)).body).toEqual({ ...nothing, provider: 'venue_b' });
    expect(world.venue.asked).toHaveLength(before);
    world.venue.behave(knowsNothing);
    expect((await outcomes('none', 2)).body).toEqual({ ...nothing, provider: 'venue_a' });
    world.venue.behave(misbehaviour('never answers'));
    const { status, body } = await outcomes('none', 2);
    expect([status, body]).toEqual([502, { detail: 'Provider error: venue_a' }]);
  });

  it('refuse missing values, and an unknown provider number as it was sent', async () => {
    for (const parameters of [
      { market_id: 'x' },
      { provider_id: 1 },
      { market_id: 'x', provider_id: 'venue_a' },
    ]) {
      expect((await world.get('/markets/outcomes', parameters)).status).toBe(422);
    }
    const { status, body } = await outcomes('x', '004');
    expect([status, body]).toEqual([400, { detail: 'Unknown provider: 004' }]);
  });
});
