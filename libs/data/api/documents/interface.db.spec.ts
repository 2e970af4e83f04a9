import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { ADMIN_SECRET, wrongTriple, type RequestHeaders } from '#libs/testing/data/data-callers.js';
import { DataWorld, type WorldReply, type WorldRequest } from '#libs/testing/data/data-world.js';
import { answers, openPlayedVenue, type PlayedVenue } from '#libs/testing/data/played-venue.js';
import { eventually } from '#libs/testing/eventually.js';
import { marketEvent, tradeEvent } from '#libs/testing/data/streams.js';
import { HttpCheck } from '#libs/testing/interface/http-check.js';
import { Snapshots } from '../../ingest/snapshots.js';
import { microsNow } from '../moments.js';
import { companionDocument, dataDocument } from './data-document.js';

jest.setTimeout(120_000);

const clock = new SystemClock();
const AT = microsNow(clock) - 3_600_000_000;
const BAND = { start: 0, end: 1_000_000, step: 10_000 };
const DOCUMENTS = { data: dataDocument(), companion: companionDocument() };
const checks = { data: new HttpCheck(DOCUMENTS.data), companion: new HttpCheck(DOCUMENTS.companion) };
const faults = new Set<string>();
const admin: RequestHeaders = { 'x-admin-secret': ADMIN_SECRET };

type Listener = keyof typeof checks;

let venue: PlayedVenue;
let world: DataWorld;
/** A listener whose callers have used up their calls. */
let spent: DataWorld;
let key: RequestHeaders;

beforeAll(async () => {
  venue = await openPlayedVenue();
  const settings = { upstreamUrls: { venue_a: venue.url, venue_b: venue.url, venue_e: venue.url } };
  world = await DataWorld.open({ settings, limitsFactor: 1_000 });
  spent = await DataWorld.open({ limitsFactor: 0 });
  key = await world.callers.key(['trade:read']);
  await world.put(
    'venue_a',
    { ...marketEvent('venue_a', 'alpha', AT), event_id: 'e', event_name: 'n', condition_id: '0xalpha' },
    { ...marketEvent('venue_a', 'beta', AT), event_id: 'e', contract: { bands: [BAND] } },
    tradeEvent('venue_a', 'alpha', { source_id: 't1', source_ts: AT + 1, side: 'buy', maker: '0xm' }),
    tradeEvent('venue_a', 'alpha', { source_id: 't2', source_ts: AT + 2, outcome_index: 1 }),
  );
  const resolution = {
    ...({ type: 'RESOLUTION', provider: 'venue_b', status: 'resolved', payouts: [1_000_000, 0] } as const),
    ...{ source_ts: AT + 2, received_at: AT },
  };
  await world.put(
    'venue_b',
    marketEvent('venue_b', 'RAIN', AT),
    marketEvent('venue_b', 'SNOW', AT),
    marketEvent('venue_b', 'SLEET', AT),
    marketEvent('venue_b', 'HAIL', AT),
    tradeEvent('venue_b', 'RAIN', { source_id: 't', source_ts: AT + 1 }),
    { ...resolution, market_id: 'RAIN', source_id: 'r' },
    { ...resolution, market_id: 'SLEET', source_id: 's' },
  );
  for (const provider of ['venue_a', 'venue_b'] as const) await world.say(provider);
  await new Snapshots({
    ...{ pool: world.ingest.database.pool, clock },
    onFault: (_what, error) => world.faults.push(error),
  }).take();
  await world.ingest.database.pool.query(
    `insert into data.ticks values ('reference', 'perpetual', 'BTC', 'venue_e', $1, 'i', '70000', '{"index": "70001"}')`,
    [AT],
  );
  await world.ingest.database.pool.query(
    `insert into data.books values (0, 'beta', 0, $1, 7, false, '[[400000, "2000000"]]', '[[420000, "1000000"]]')`,
    [microsNow(clock)],
  );
});
afterAll(async () => {
  await Promise.all([world.close(), spent.close(), venue.close()]);
});

/** Sends a request, and checks the answer against the document of its listener. */
async function ask(path: string, request: WorldRequest = {}, of = world): Promise<WorldReply> {
  const on: Listener = request.on === 'companion' ? 'companion' : 'data';
  const reply = await of.ask(path, request);
  const { method = 'GET', headers = {}, body } = request;
  const exchange = {
    ...{ method, path, requestHeaders: headers, status: reply.status, body: reply.text },
    ...(body === undefined ? {} : { requestBody: typeof body === 'object' ? JSON.stringify(body) : body }),
    headers: Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name, String(value)])),
  };
  for (const fault of checks[on].faults(exchange)) faults.add(fault);
  return reply;
}

async function gives(status: number, path: string, request: WorldRequest = {}, of = world): Promise<unknown> {
  const reply = await ask(path, { headers: key, ...request }, of);
  expect([path, reply.status, reply.text]).toEqual([path, status, reply.text]);
  return reply.body;
}

const post = (body: object | string, headers = key): WorldRequest => ({ method: 'POST', body, headers });
/** Requests of the caller that most calls use. */
const sent = (body: object): WorldRequest => ({ method: 'POST', body });
const companion = (request: WorldRequest = {}): WorldRequest => ({
  headers: {},
  on: 'companion',
  ...request,
});

const hours = (count: number): string => new Date(AT / 1_000 + count * 3_600_000).toISOString();
const CANDLES = `timeframe_seconds=60&start=${hours(-1)}&end=${hours(1)}`;
const WINDOW = { timeframe_seconds: 60, start: hours(-1), end: hours(1) };
const TRADES_OF_B = { trades: [], cursor: '' };
const LIVE_MARKET = { market: { id: 'live', title: 'Live?', outcomes: [{ label: 'Yes', price: 0.5 }] } };

/** One successful call of each operation that changes nothing. */
const READS: readonly (readonly [path: string, request?: WorldRequest])[] = [
  ...(['/providers/configs', '/providers/configs/VENUE_A', '/providers/api-access'] as const).map(
    (path) => [path] as const,
  ),
  ['/markets/active?provider=venue_a&limit=1'],
  ['/markets/details', sent({ markets: [{ market_id: 'alpha', provider_id: 2 }] })],
  ['/markets/batch-prices', sent({ markets: [{ market_id: 'alpha', provider_id: 2 }] })],
  ['/markets/metadata?ticker=alpha&provider=venue_a'],
  ['/markets/metadata/batch', sent({ contracts: [{ ticker: 'alpha', provider: 'venue_a' }] })],
  ['/markets/outcomes?market_id=alpha&provider_id=2&include_closed=true'],
  [`/candles?provider=venue_a&contract_id=alpha&${CANDLES}&outcome=0&rebuild=true`],
  ['/candles/batch', sent({ requests: [{ provider: 'x', contract_id: 'x', ...WINDOW }] })],
  ['/trades/history?provider=venue_a&contract_id=alpha&window_seconds=86400&limit=1'],
  ['/trades/metrics?provider=venue_a&contract_id=alpha&window_seconds=86400'],
  ['/trades/venue_a?market=alpha&after=1&before=2&limit=1'],
];

const COMPANION_READS: readonly (readonly [path: string, request?: WorldRequest])[] = [
  ['/v1/markets?provider=venue_a&limit=1'],
  ['/v1/marks?provider=venue_a&contract_id=alpha'],
  ['/v1/books?provider=venue_a&contract_id=beta&depth=5'],
  ['/v1/synthetics?provider=venue_b&limit=1'],
  ['/v1/resolutions?provider=venue_b&contract_id=RAIN'],
  ['/v1/perpetuals?provider=venue_e'],
  ['/v1/markets/tick-size?provider=venue_a&contract_id=alpha&asset_id=alpha-yes'],
  ['/v1/markets/tick-size/batch', { method: 'POST', body: { items: [{ provider: 'a', contract_id: 'x' }] } }],
  [`/v1/candles?provider=venue_a&contract_id=alpha&${CANDLES}&outcome=0&rebuild=false`],
];

const ALL_READS: readonly (readonly [path: string, request: WorldRequest])[] = [
  ...READS.map(([path, request]) => [path, request ?? {}] as const),
  ...COMPANION_READS.map(([path, request]) => [path, companion(request)] as const),
];

const FREE = ['/health', '/openapi.json', '/docs'];

describe('successful requests', () => {
  it('every read', async () => {
    venue.behave(answers([]));
    for (const [path, request] of READS) await gives(200, path, request);
    for (const [path, request] of COMPANION_READS) await gives(200, path, companion(request));
    venue.behave(answers(TRADES_OF_B));
    await gives(200, '/trades/venue_b?ticker=RAIN&min_ts=1&max_ts=2&limit=1&cursor=x');
    await gives(410, '/markets/tick-size');
    for (const on of ['data', 'companion'] as const) {
      await gives(503, '/readyz', { on });
      for (const path of FREE) await gives(200, path, { on });
    }
    await world.begin();
    for (const on of ['data', 'companion'] as const) await gives(200, '/readyz', { on });
  });

  it('pages, and replies that have not changed', async () => {
    const { next_cursor } = (await gives(200, '/markets/active?limit=1')) as { next_cursor: string };
    await gives(200, `/markets/active?limit=1&cursor=${next_cursor}`);
    const trades = '/trades/history?provider=venue_a&contract_id=alpha&limit=1';
    const history = (await gives(200, trades)) as { next_cursor: string };
    await gives(200, `${trades}&cursor=${history.next_cursor}`);
    await gives(200, `${trades}&token_id=alpha-yes&before=${String(AT / 1e6 + 60)}&trigger_ingest=true`);
    const resolved = companion();
    for (const path of [
      '/v1/markets?provider=venue_a&limit=1',
      `/v1/resolutions?provider=venue_b&since=${hours(-1)}&limit=1`,
      '/v1/synthetics?provider=venue_b&limit=1',
    ]) {
      const page = (await gives(200, path, resolved)) as { next_cursor: string };
      await gives(200, `${path}&cursor=${page.next_cursor}`, resolved);
    }
    await gives(200, '/v1/markets/tick-size?provider=venue_a&contract_id=beta', resolved);
    await gives(200, '/v1/synthetics?provider=venue_b&underlying=SNOW', resolved);
    await gives(200, '/v1/marks?provider=venue_a&contract_id=alpha&asset_id=alpha-no', resolved);
    await gives(200, '/v1/books?provider=venue_a&contract_id=beta&asset_id=beta-yes', resolved);
    await gives(200, '/v1/perpetuals?provider=venue_e&symbol=BTC', resolved);
    for (const [path, request] of ALL_READS) {
      const { headers } = await ask(path, { headers: key, ...request });
      if (headers.etag === undefined || request.method === 'POST') continue;
      const ofTag = { 'if-none-match': String(headers.etag), ...(request.headers ?? key) };
      await gives(304, path, { ...request, headers: ofTag });
    }
  });

  it('stale data', async () => {
    const late = ['venue_a', 'venue_b', 'venue_e'] as const;
    for (const provider of late) await world.say(provider, { state: 'paused' });
    await eventually(async () => {
      const { headers } = await ask('/markets/active', { headers: key });
      expect(headers['x-data-stale']).toBe('true');
    });
    for (const [path, request] of ALL_READS) await ask(path, { headers: key, ...request });
    const wanted = { provider: 'venue_a', contract_id: 'alpha', ...WINDOW };
    await gives(200, '/candles/batch', sent({ requests: [wanted] }));
    const items = [{ provider: 'venue_a', contract_id: 'alpha' }];
    await gives(200, '/v1/markets/tick-size/batch', companion({ method: 'POST', body: { items } }));
    for (const [path, request] of ALL_READS) {
      const { headers } = await ask(path, { headers: key, ...request });
      if (headers.etag === undefined || request.method === 'POST') continue;
      const ofTag = { 'if-none-match': String(headers.etag), ...(request.headers ?? key) };
      await gives(304, path, { ...request, headers: ofTag });
    }
  });

  it('live reads of venues', async () => {
    venue.behave(answers(LIVE_MARKET));
    await gives(200, '/markets/metadata?ticker=live&provider=venue_a');
    await gives(200, '/markets/outcomes?market_id=live&provider_id=2');
    const batch = ['live', 'away'].map((ticker) => ({ ticker, provider: 'venue_a' }));
    await gives(200, '/markets/metadata/batch', post({ contracts: batch }));
    const titles = [...batch, { ticker: 'alpha', provider: 'venue_a' }];
    await gives(200, '/markets/metadata/batch', post({ contracts: titles, titles_only: true }));
    venue.behave(answers({}, 500));
    await gives(200, '/markets/metadata/batch', post({ contracts: batch }));
    for (const path of LIVE) await gives(502, path);
    venue.behave(answers({}, 429));
    for (const path of LIVE) await gives(path.includes('venue_b') ? 502 : 429, path);
    venue.behave(answers({}, 404));
    await gives(404, '/markets/metadata?ticker=nobody&provider=venue_a');
    await gives(404, '/trades/venue_a?market=0xnobody');
  });

  it('batches of every kind', async () => {
    const markets = ['alpha', 'beta', 'nobody'].map((market_id) => ({ market_id, provider_id: 2 }));
    await gives(200, '/markets/batch-prices', post({ markets }));
    const wanted = { provider: 'venue_a', contract_id: 'alpha', ...WINDOW, outcome: 0, rebuild: false };
    await gives(200, '/candles/batch', post({ requests: [wanted, { ...wanted, provider: 'x' }] }));
    await gives(200, '/candles/batch', post({ items: [wanted] }));
    const items = [
      { provider: 'venue_a', contract_id: 'alpha', asset_id: 'alpha-yes' },
      { provider: 'venue_x', contract_id: 'alpha' },
    ];
    await gives(200, '/v1/markets/tick-size/batch', companion({ method: 'POST', body: { items } }));
  });

  it('operations of operators', async () => {
    const flag = '/admin/flags/provider_hidden_venue_e';
    await gives(200, flag, { method: 'PUT', headers: admin, body: { enabled: true, reason: 'x' } });
    await gives(200, flag, { headers: admin });
    await gives(204, flag, { method: 'DELETE', headers: admin });
    await gives(200, '/providers/configs/reload', { method: 'POST', headers: admin });
    await world.ingest.database.pool.query(
      `insert into data.recorded_files values ('f', 9, 9, 2, 2, 1, '[{"line": 1, "reason": "not_json"}]')`,
    );
    await world.ingest.database.pool.query(
      `insert into data.alarms (provider, kind, at, detail) values (0, 'gap', ${AT}, 'x')`,
    );
    await gives(200, '/admin/ingest', { headers: admin });
    for (const what of ['pause', 'resume']) {
      await gives(200, `/admin/ingest/venue_d/${what}`, { method: 'POST', headers: admin });
    }
    const span = { from: hours(-2), to: hours(-1) };
    await gives(202, '/admin/ingest/venue_d/backfill', post(span, admin));
  });
});

const LIVE = [
  '/markets/metadata?ticker=nobody&provider=venue_a',
  '/markets/outcomes?market_id=nobody&provider_id=2',
  '/trades/venue_a?market=0xnobody',
  '/trades/venue_b?ticker=nobody',
];

const OPERATORS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/admin/flags/x'],
  ['PUT', '/admin/flags/x'],
  ['DELETE', '/admin/flags/x'],
  ['GET', '/admin/ingest'],
  ['POST', '/admin/ingest/x/pause'],
  ['POST', '/admin/ingest/x/resume'],
  ['POST', '/admin/ingest/x/backfill'],
  ['POST', '/providers/configs/reload'],
];

describe('refused requests', () => {
  const requests = (): (readonly [path: string, request: WorldRequest])[] => [
    ...READS.map(([path, of]) => [path, of ?? {}] as const),
    ['/trades/venue_b?ticker=RAIN', {}],
  ];
  const ofCompanion = COMPANION_READS.map(([path, of]) => [path, companion(of)] as const);
  const isPublic = (path: string): boolean => path.startsWith('/providers/');

  it('callers without credentials, without rights, and over the limit', async () => {
    const stranger = await world.callers.session(await world.callers.user({ isInvited: false }));
    for (const [path, of] of requests()) {
      await gives(429, path, { ...of, headers: admin }, spent);
      if (isPublic(path)) continue;
      await gives(401, path, { ...of, headers: {} });
      await gives(403, path, { ...of, headers: stranger });
    }
    for (const [path, of] of ofCompanion) {
      await gives(429, path, of, spent);
      await gives(401, path, { ...of, headers: { 'x-client-id': 'x' } });
    }
    await gives(403, '/trades/metrics', { headers: await world.callers.key([]) });
    for (const [method, path] of OPERATORS) await gives(404, path, { method });
    const from = '127.0.7.3';
    for (let guess = 0; guess < 11; guess += 1) {
      await ask('/markets/active', { headers: wrongTriple(), from });
    }
    for (const [path, of] of [...requests(), ...ofCompanion]) {
      if (isPublic(path)) continue;
      const headers = path.startsWith('/v1/') ? wrongTriple() : key;
      await gives(429, path, { ...of, from, headers });
    }
  });

  it('requests that cannot be read', async () => {
    for (const [path, of] of [...requests(), ...ofCompanion]) {
      if (isPublic(path)) continue;
      if (of.method === 'POST') await gives(422, path, { ...of, body: '[' });
      else await gives(422, `${path.split('?', 1)[0] ?? ''}?limit=x`, of);
    }
    const broken = { headers: admin, body: '{}' };
    await gives(422, '/admin/flags/native_pnl_pipeline', { ...broken, method: 'PUT' });
    await gives(422, '/admin/ingest/venue_a/backfill', { ...broken, method: 'POST' });
    await gives(413, '/markets/details', post(' '.repeat(1_048_577)));
  });

  it('requests that are well-formed but not valid', async () => {
    for (const [path, of] of [...READS, ...ofCompanion]) {
      const unknown = path
        .replace('provider=venue_a', 'provider=x')
        .replace(/provider=venue_[be]/, 'provider=x');
      if (unknown !== path) await gives(400, unknown, of);
    }
    await gives(400, '/markets/outcomes?market_id=alpha&provider_id=77');
    await gives(400, '/markets/batch-prices', post({ markets: [{ market_id: 'x', provider_id: 77 }] }));
    await gives(400, '/markets/metadata/batch', post({ contracts: [{ ticker: 'x', provider: 'x' }] }));
    const year = { timeframe_seconds: 1, start: '2020-01-01', end: hours(0) };
    const many = Array.from({ length: 6 }, () => ({ provider: 'venue_a', contract_id: 'alpha', ...year }));
    await gives(400, '/candles/batch', post({ requests: many }));
    for (const what of ['pause', 'resume', 'backfill']) {
      await gives(400, `/admin/ingest/x/${what}`, post({ from: hours(0) }, admin));
    }
  });

  it('unknown resources', async () => {
    await gives(404, '/nothing');
    await gives(404, '/nothing', companion());
    await gives(405, '/markets/active', { method: 'DELETE' });
    await gives(405, '/v1/markets', companion({ method: 'DELETE' }));
    await gives(404, '/providers/configs/x');
    await gives(404, '/v1/markets/tick-size?provider=venue_a&contract_id=x', companion());
  });

  it('answers that are unavailable for a while', async () => {
    const { pool } = world.ingest.database;
    await pool.query('delete from data.snapshots');
    await gives(503, '/markets/active?provider=venue_a');
    await gives(503, '/v1/markets?provider=venue_a', companion());
    const blocker = await pool.connect();
    try {
      await blocker.query('begin; lock table data.flags in access exclusive mode');
      await gives(503, '/providers/configs/reload', { method: 'POST', headers: admin });
      await gives(503, '/providers/api-access');
      for (const path of ['/trades/metrics', '/trades/history']) {
        await gives(503, `${path}?provider=venue_a&contract_id=alpha`);
      }
      await gives(503, '/trades/venue_a?market=alpha');
      await gives(503, '/trades/venue_b?ticker=RAIN');
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
  });
});

describe('the documents', () => {
  it('describe every answer that was seen, with its headers and fields', () => {
    expect([...faults]).toEqual([]);
  });

  it('describe no answer, header, parameter or field that was not seen', () => {
    const unseen = (['data', 'companion'] as const).flatMap((on) => {
      const { parts, shown } = checks[on];
      // A field shows only one of its words at a time.
      return parts.filter((part) => !shown.has(part) && !part.includes('=')).map((part) => `${on} ${part}`);
    });
    expect([...new Set(unseen)].filter((part) => !SHOWN_ELSEWHERE.test(part)).sort()).toEqual([]);
  });
});

/**
 * Answers that the edge gives for every service, such as to broken HTTP; and 503 of candles, because four are never rebuilt at once
 * here.
 */
const SHOWN_ELSEWHERE = / any (?:400|408|413|431|500|501|503)$|(?:getCandles|getCompanionCandles) 503$/;
