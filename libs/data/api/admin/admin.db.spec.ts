import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { openDataRoutes, type DataRoutes } from '#libs/testing/data/data-routes.js';
import { clock, IngestWorld } from '#libs/testing/data/ingest-world.js';
import { marketEvent, START } from '#libs/testing/data/streams.js';
import { eventually } from '#libs/testing/eventually.js';
import { DataIngest } from '../../ingest/data-ingest.js';
import type { SourceBatch, SourceFeed } from '../../ingest/source.js';
import { accessFlag, isSetTo } from '../../rules/flags.js';
import { AlarmTable } from '../../store/alarm-table.js';
import { BackfillTable } from '../../store/backfill-table.js';
import { FlagTable } from '../../store/flag-table.js';
import { FreshnessTable } from '../../store/freshness-table.js';
import { PauseTable } from '../../store/pause-table.js';
import { RecordedTable } from '../../store/recorded-table.js';
import { KnownFlags } from '../flags/known-flags.js';
import { DataAdminController } from './admin.controller.js';
import { IngestDesk } from './ingest-desk.js';

jest.setTimeout(60_000);

let world: IngestWorld;
let routes: DataRoutes;
let flags: KnownFlags;

beforeAll(async () => {
  world = await IngestWorld.make();
  const { pool } = world.database;
  const table = new FlagTable(pool);
  flags = new KnownFlags(table, clock);
  const ingest = new IngestDesk({
    ...{
      freshness: new FreshnessTable(pool),
      alarms: new AlarmTable(pool),
      files: new RecordedTable(pool),
    },
    ...{ pauses: new PauseTable(pool), backfills: new BackfillTable(pool), clock },
  });
  routes = await openDataRoutes([new DataAdminController({ table, flags, ingest, clock })]);
});
afterAll(async () => {
  await routes.close();
  await world.end();
});
afterEach(async () => {
  expect(routes.faults).toEqual([]);
  await world.empty();
});

const admin = async (method: string, path: string, body?: unknown): Promise<[number, unknown]> => {
  const reply = await routes.send(method, path, body, 'admin');
  return [reply.status, reply.body];
};

describe('flags', () => {
  const PATH = '/admin/flags/api_access_venue_a_enabled';
  const AT_FIRST = { name: 'api_access_venue_a_enabled', enabled: true, reason: null, updated_at: null };

  it('can be set, read and reset to the default', async () => {
    expect(await admin('GET', PATH)).toEqual([200, AT_FIRST]);
    const [status, set] = await admin('PUT', PATH, { enabled: false, reason: 'until Monday', other: 1 });
    expect([status, set]).toEqual([
      200,
      { ...AT_FIRST, enabled: false, reason: 'until Monday', updated_at: expect.stringMatching(/Z$/) },
    ]);
    expect(await admin('GET', PATH)).toEqual([200, set]);
    expect(isSetTo((await flags.verified()) ?? new Map(), accessFlag('venue_a'))).toBe(false);
    expect(await admin('PUT', PATH, { enabled: true })).toMatchObject([200, { enabled: true, reason: null }]);
    expect(await admin('DELETE', PATH)).toEqual([204, undefined]);
    expect(await admin('DELETE', PATH)).toEqual([204, undefined]);
    expect(await admin('GET', PATH)).toEqual([200, AT_FIRST]);
  });

  it('hide nothing by default', async () => {
    expect(await admin('GET', '/admin/flags/provider_hidden_venue_e')).toMatchObject([
      200,
      { enabled: false },
    ]);
    expect(await admin('GET', '/admin/flags/native_pnl_pipeline')).toMatchObject([200, { enabled: true }]);
  });

  it.each(['provider_active_venue_f', 'api_access_venue_a', 'PROVIDER_ACTIVE_VENUE_A', '__proto__'])(
    '%s is not the name of a flag',
    async (name) => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const reply = await admin(
          method,
          `/admin/flags/${name}`,
          method === 'PUT' ? { enabled: true } : undefined,
        );
        expect(reply).toEqual([404, { detail: `Flag not found: ${name}` }]);
      }
    },
  );

  it.each([
    {},
    { enabled: 'true' },
    { enabled: 1 },
    { enabled: true, reason: 7 },
    { enabled: true, reason: 'x'.repeat(201) },
    '{"enabled": true, "enabled": false}',
    'no',
  ])('%j is refused and changes nothing', async (body) => {
    const [status] = await admin('PUT', PATH, body);
    expect(status).toBe(422);
    expect(await admin('GET', PATH)).toEqual([200, AT_FIRST]);
  });

  it('a reason may have 200 characters of any kind', async () => {
    const reason = '\u{1F600}'.repeat(199) + '\0';
    const [status, body] = await admin('PUT', PATH, { enabled: false, reason });
    expect([status, body]).toMatchObject([200, { reason: '\u{1F600}'.repeat(199) + '\ufffd' }]);
    expect(await admin('GET', PATH)).toEqual([200, body]);
  });
});

it.each([
  ['GET', '/admin/flags/native_pnl_pipeline'],
  ['PUT', '/admin/flags/native_pnl_pipeline'],
  ['DELETE', '/admin/flags/native_pnl_pipeline'],
  ['GET', '/admin/ingest'],
  ['POST', '/admin/ingest/venue_a/pause'],
  ['POST', '/admin/ingest/venue_a/resume'],
  ['POST', '/admin/ingest/nobody/backfill'],
  ['PATCH', '/admin/ingest'],
])('%s %s needs the admin secret', async (method, path) => {
  for (const caller of [undefined, 'key', 'session'] as const) {
    const reply = await routes.send(method, path, undefined, caller);
    expect([reply.status, reply.body]).toEqual([404, { detail: 'Not Found' }]);
  }
});

/** One market, and more once `others` is called. */
class SmallFeed implements SourceFeed {
  readonly of = 'venue_a';
  readonly source = 'seed';
  readonly markets = ['alpha'];
  readonly backfilled: [number, number][] = [];

  async *follow(cursor: string | undefined, stop: AbortSignal): AsyncIterable<SourceBatch> {
    for (let at = Number(cursor ?? 0); !stop.aborted;) {
      const name = this.markets[at];
      if (name === undefined) await new Promise((resolve) => clock.after(5, () => resolve(undefined)));
      else {
        at += 1;
        yield { events: [marketEvent('venue_a', name)], cursor: String(at), isCaughtUp: true };
      }
    }
  }

  async *backfill(from: number, to: number): AsyncIterable<SourceBatch> {
    this.backfilled.push([from, to]);
    await Promise.resolve();
    yield { events: [], cursor: '', isCaughtUp: true };
  }
}

describe('ingest', () => {
  let feed: SmallFeed;
  let ingest: DataIngest;

  beforeEach(async () => {
    feed = new SmallFeed();
    const { pool } = world.database;
    ingest = new DataIngest([feed], {
      ...{ pool, clock, journal: world.journal, reader: world.reader },
      onFault: (_what, error) => world.faults.push(error),
    });
    await ingest.start();
  });
  afterEach(() => ingest.stop());

  interface Row {
    readonly state: string;
    readonly journal_head: number;
    readonly applied: number;
    readonly lag_events: number;
  }

  async function rowOfA(): Promise<Row> {
    const [, body] = await admin('GET', '/admin/ingest');
    const [row] = (body as { providers: readonly Row[] }).providers;
    if (row === undefined) throw new Error('no rows');
    return row;
  }

  const appliedOfA = (): Promise<Row> =>
    eventually(async () => {
      const row = await rowOfA();
      expect([row.applied > 0, row.lag_events, row.applied]).toEqual([true, 0, row.journal_head]);
      return row;
    });

  it('lists the progress of each provider', async () => {
    const { applied } = await appliedOfA();
    expect(await rowOfA()).toEqual({
      ...{ provider: 'venue_a', source: 'seed', state: 'running' },
      ...{ journal_head: applied, applied, lag_events: 0, newest_source_ts: '2026-10-31T22:00:00Z' },
      ...{ gaps: 0, conflicts: 0, quarantined: 0, alarms: [] },
    });
    const [, body] = await admin('GET', '/admin/ingest');
    expect(body).toMatchObject({
      providers: ['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e'].map((provider) => ({ provider })),
      recorded: [],
    });
  });

  it('once a pause is acknowledged, the provider is journaled but not projected', async () => {
    const { applied } = await appliedOfA();
    expect(await admin('POST', '/admin/ingest/VENUE_A/pause')).toMatchObject([
      200,
      { providers: [{ provider: 'venue_a', state: 'paused' }] },
    ]);
    feed.markets.push('beta');
    await eventually(async () => {
      const row = await rowOfA();
      expect(row).toMatchObject({ state: 'paused', applied });
      expect(row.lag_events).toBeGreaterThan(0);
    });
    expect(await admin('POST', '/admin/ingest/venue_a/resume')).toMatchObject([
      200,
      { providers: [{ provider: 'venue_a', state: 'running' }] },
    ]);
    const after = await appliedOfA();
    expect(after.applied).toBeGreaterThan(applied);
  });

  it('a backfill reads a time span again', async () => {
    const from = '2026-10-01T00:00:00Z';
    const to = '2026-10-02T00:00:00+01:00';
    expect(await admin('POST', '/admin/ingest/venue_a/backfill', { from, to })).toEqual([
      202,
      { accepted: true },
    ]);
    await eventually(() => {
      expect(feed.backfilled).toEqual([[Date.parse(from) * 1_000, Date.parse(to) * 1_000]]);
    });
    const far = { from: '9999-01-01T00:00:00Z' };
    expect(await admin('POST', '/admin/ingest/venue_a/backfill', far)).toEqual([202, { accepted: true }]);
  });

  it.each([
    [422, undefined, {}],
    [422, undefined, { from: 'yesterday' }],
    [422, undefined, { from: 1 }],
    [400, 'to must be after from', { from: '2026-10-01', to: '2026-10-01' }],
  ])('a backfill is refused with %s', async (status, detail, body) => {
    const [answered, reply] = await admin('POST', '/admin/ingest/venue_a/backfill', body);
    expect(answered).toBe(status);
    if (detail !== undefined) expect(reply).toEqual({ detail });
    expect(feed.backfilled).toEqual([]);
  });

  it.each(['venue_f', 'venue_x', '2'])('%s is refused as an unknown provider', async (name) => {
    for (const what of ['pause', 'resume', 'backfill']) {
      const reply = await admin('POST', `/admin/ingest/${name}/${what}`, { from: '2026-10-01' });
      expect(reply).toEqual([400, { detail: `Unknown provider: ${name}` }]);
    }
  });
});

it('a pause is accepted for a provider without data, and while ingest is down', async () => {
  expect(await admin('POST', '/admin/ingest/venue_c/pause')).toMatchObject([
    200,
    { providers: [{ provider: 'venue_c', source: null, state: 'paused', journal_head: 0 }] },
  ]);
  expect(await admin('GET', '/admin/ingest')).toMatchObject([200, { providers: { length: 5 } }]);
  expect(await admin('POST', '/admin/ingest/venue_c/resume')).toMatchObject([
    200,
    { providers: [{ state: 'running' }] },
  ]);
});

it('lists alarms, and recorded files with their refused lines', async () => {
  const { pool } = world.database;
  await new AlarmTable(pool).add(1, { kind: 'conflict', at: START, detail: 'twice' });
  await pool.query(
    `insert into data.recorded_files (file, bytes, read_bytes, lines, applied_lines, refused_count, refused)
     values ('b.ndjson', 100, 90, 3, 2, 1, '[{"line": 2, "reason": "not_json"}]'), ('B.ndjson', 0, 0, 0, 0, 0, '[]')`,
  );
  expect(await admin('GET', '/admin/ingest')).toMatchObject([
    200,
    {
      providers: [
        {},
        { alarms: [{ kind: 'conflict', at: '2026-10-31T22:00:00Z', detail: 'twice' }] },
        {},
        {},
        {},
      ],
      recorded: [
        { file: 'B.ndjson', refused: [] },
        {
          ...{ file: 'b.ndjson', bytes: 100, read_bytes: 90, lines: 3, applied_lines: 2, refused_count: 1 },
          refused: [{ line: 2, reason: 'not_json' }],
        },
      ],
    },
  ]);
});
