import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { eventually } from '#libs/testing/eventually.js';
import { marketLine, RecordedFloor, tradeLine } from './recorded-floor.js';

jest.setTimeout(240_000);

const LONG_MS = 90_000;
const PROVIDERS = ['venue_a', 'venue_c', 'venue_e'];

let cluster: OwnedCluster;
let floor: RecordedFloor;

beforeAll(async () => {
  cluster = await startCluster({ env: { SERVICES: 'data', DATA_SOURCES: 'recorded' } });
  floor = new RecordedFloor(cluster);
}, 120_000);
afterAll(() => cluster.stop());

/** Writes trades of three providers into one file, out of order, each twice and with garbage in between, until stopped. */
class Recording {
  lines = 0;
  private nth = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly file: string,
    private readonly market: string,
  ) {
    this.write(...PROVIDERS.map((provider) => marketLine(provider, market)));
    this.timer = setInterval(() => this.writeSome(), 20);
  }

  /** How many trades each provider has written. */
  stop(): number {
    clearInterval(this.timer);
    return this.nth;
  }

  async grows(by: number): Promise<void> {
    const until = this.nth + by;
    await eventually(() => expect(this.nth).toBeGreaterThan(until), LONG_MS);
  }

  private writeSome(): void {
    const { market } = this;
    const next = Array.from({ length: 10 }, (_, index) => this.nth + index);
    this.nth += next.length;
    const trades = PROVIDERS.flatMap((provider) => next.map((nth) => tradeLine(provider, market, nth)));
    this.write(...trades.reverse(), `garbage ${this.nth}`, ...trades.slice(0, 5));
  }

  private write(...lines: readonly (object | string)[]): void {
    floor.append(this.file, ...lines);
    this.lines += lines.length;
  }
}

async function onDatabase<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: cluster.file.database_url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Rows in the journals and in the tables, and the number of trades in them. */
function countsOf(market: string): Promise<Record<string, string>> {
  return onDatabase(async (client) => {
    const { rows } = await client.query<Record<string, string>>(
      `select
         (select count(*) from journal.records where family = 'data' and payload like '%"TRADE"%' and payload like $1) as journaled,
         (select count(*) from data.trades where source_id like $2) as stored,
         (select count(distinct (instrument, source_id)) from data.trades where source_id like $2) as different`,
      [`%"${market}-%`, `${market}-%`],
    );
    return rows[0] ?? {};
  });
}

async function expectEachOnce(file: string, market: string, recording: Recording): Promise<void> {
  const trades = recording.stop();
  await floor.applied(file, recording.lines, LONG_MS);
  const all = String(trades * PROVIDERS.length);
  expect(await countsOf(market)).toEqual({ journaled: all, stored: all, different: all });
  for (const provider of PROVIDERS) {
    expect(await floor.volume(provider, market)).toBe(trades);
    expect(await floor.provider(provider)).toMatchObject({ conflicts: 0, lag_events: 0, state: 'running' });
  }
}

it('ingest is killed repeatedly while files grow: every event counts once', async () => {
  const recording = new Recording('killed.ndjson', 'killed');
  for (let round = 0; round < 4; round += 1) {
    await recording.grows(300);
    const former = cluster.kill('ingest-0');
    await cluster.restartOf('ingest-0', former);
  }
  await expectEachOnce('killed.ndjson', 'killed', recording);
});

it('the database is killed while files grow: reads come back, and every event counts once', async () => {
  const recording = new Recording('outage.ndjson', 'outage');
  for (let round = 0; round < 2; round += 1) {
    await recording.grows(300);
    const former = cluster.kill('postgres');
    await cluster.restartOf('postgres', former, LONG_MS);
    await eventually(() => floor.ingest(), LONG_MS);
  }
  await expectEachOnce('outage.ndjson', 'outage', recording);
});

it('the disk of one journal is full: its lag shows, others go on, and nothing is lost after room is made', async () => {
  const { market, file } = { market: 'full', file: 'full.ndjson' };
  await onDatabase((client) =>
    client.query(`
      create function journal.no_room() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
      create trigger no_room before insert on journal.records for each row when (new.family = 'data' and new.shard = 0)
        execute function journal.no_room()`),
  );
  const one = (provider: string, nth: number): object => tradeLine(provider, market, nth);
  floor.append(file, marketLine('venue_c', market), marketLine('venue_a', market));
  floor.append(file, one('venue_c', 0), one('venue_a', 0), one('venue_c', 1));
  await eventually(async () => expect(await floor.provider('venue_a')).toMatchObject({ state: 'failed' }));
  await eventually(async () => expect(await floor.volume('venue_c', market)).toBe(2));
  expect(await floor.provider('venue_c')).toMatchObject({ state: 'running', lag_events: 0 });
  const { metrics_url: url } = cluster.process('ingest-0');
  expect(await (await fetch(url)).text()).toMatch(/^sotto_ingest_failed\{[^}]*provider="venue_a"[^}]*\} 1$/m);
  await onDatabase((client) => client.query('drop function journal.no_room() cascade'));
  await floor.applied(file, 5, LONG_MS);
  expect(await floor.volume('venue_a', market)).toBe(1);
});

it('a provider is paused while files grow: only it lags, and later it has everything', async () => {
  const recording = new Recording('paused.ndjson', 'paused');
  const { data_url: url, demo } = cluster.file;
  const tell = async (what: string): Promise<void> => {
    const headers = { 'x-admin-secret': demo.admin_secret ?? '' };
    const { status } = await fetch(`${url}/admin/ingest/venue_c/${what}`, { method: 'POST', headers });
    expect(status).toBe(200);
  };
  await recording.grows(100);
  await tell('pause');
  await eventually(async () => expect((await floor.provider('venue_c')).lag_events).toBeGreaterThan(100));
  await eventually(async () => expect(await floor.provider('venue_a')).toMatchObject({ lag_events: 0 }));
  expect(await floor.provider('venue_c')).toMatchObject({ state: 'paused' });
  await tell('resume');
  await expectEachOnce('paused.ndjson', 'paused', recording);
});

it('the tables are rebuilt while files grow and readers read: no reader sees less than before, and every event counts once', async () => {
  const [file, market] = ['rebuilt.ndjson', 'rebuilt'];
  const recording = new Recording(file, market);
  await recording.grows(300);
  let seen = 0;
  const looks: number[] = [];
  const look = setInterval(() => {
    void floor.volume('venue_e', market).then((volume) => {
      looks.push(volume - seen);
      seen = Math.max(seen, volume);
    });
  }, 250);
  const { code, output } = await runTool('apps/cli/main.js data', ['rebuild'], { DATA_DIR: cluster.dataDir });
  clearInterval(look);
  expect([code, JSON.parse(output.trim().split('\n').at(-1) ?? '')]).toEqual([
    0,
    { rebuilt: true, events: expect.any(Number) },
  ]);
  expect(looks.length).toBeGreaterThan(1);
  expect(looks.filter((grown) => grown < 0)).toEqual([]);
  await expectEachOnce(file, market, recording);
});

it('a file that was truncated is read from its start again, and its earlier events stay', async () => {
  const [file, market] = ['anew.ndjson', 'anew'];
  floor.append(file, marketLine('venue_a', market), tradeLine('venue_a', market, 0));
  await floor.applied(file, 2);
  writeFileSync(path.join(cluster.dataDir, 'recorded', file), '');
  await floor.applied(file, 0);
  floor.append(file, tradeLine('venue_a', market, 0), tradeLine('venue_a', market, 1));
  await floor.applied(file, 2);
  expect(await floor.volume('venue_a', market)).toBe(2);
});
