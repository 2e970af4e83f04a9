import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import type { MarketDataEvent } from '../rules/events.js';
import type { Provider } from '../rules/providers.js';
import { AlarmTable } from '../store/alarm-table.js';
import { BackfillTable } from '../store/backfill-table.js';
import { FreshnessTable, type IngestProgress } from '../store/freshness-table.js';
import { PauseTable } from '../store/pause-table.js';
import { DataIngest } from './data-ingest.js';
import { clock, IngestWorld } from '#libs/testing/data/ingest-world.js';
import type { SourceFeed, Quarantined, SourceBatch } from './source.js';
import { marketEvent, START, tradeEvent } from '#libs/testing/data/streams.js';

jest.setTimeout(120_000);

let world: IngestWorld;
let running: DataIngest[] = [];

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(() => world.end());
afterEach(async () => {
  for (const each of running) await each.stop();
  running = [];
  await world.empty();
});

type Step = SourceBatch | Quarantined | Error;

/** Yields its steps one by one, each when the test releases it. The cursor is the number of the next step. */
class ScriptedFeed implements SourceFeed {
  readonly begunAt: (string | undefined)[] = [];
  readonly steps: Step[] = [];
  readonly history: MarketDataEvent[] = [];

  constructor(
    readonly of: Provider,
    readonly source: SourceFeed['source'] = 'practice',
  ) {}

  give(events: readonly MarketDataEvent[], asOf?: number): void {
    const cursor = String(this.steps.length + 1);
    this.steps.push({ events, cursor, isCaughtUp: true, ...(asOf === undefined ? {} : { asOf }) });
  }

  async *follow(cursor: string | undefined, stop: AbortSignal): AsyncIterable<SourceBatch | Quarantined> {
    this.begunAt.push(cursor);
    for (let at = Number(cursor ?? 0); !stop.aborted;) {
      const step = this.steps[at];
      if (step === undefined) {
        await new Promise((resolve) => clock.after(5, () => resolve(undefined)));
        continue;
      }
      at += 1;
      if (!(step instanceof Error)) {
        yield step;
        continue;
      }
      this.steps[at - 1] = { events: [], cursor: String(at), isCaughtUp: false };
      throw step;
    }
  }

  async *backfill(): AsyncIterable<SourceBatch> {
    await Promise.resolve();
    yield { events: this.history, cursor: 'of the backfill', isCaughtUp: true };
  }
}

/** A venue that reports one more contract on every request, and never the trade. */
class CountingFeed extends ScriptedFeed {
  private counted = 0n;

  volumes(): Promise<ReadonlyMap<string, bigint>> {
    this.counted += 1_000_000n;
    return Promise.resolve(new Map([['m', this.counted]]));
  }
}

async function start(...feeds: SourceFeed[]): Promise<DataIngest> {
  const { pool } = world.database;
  const ingest = new DataIngest(feeds, {
    ...{ pool, clock, journal: world.journal, reader: world.reader },
    onFault: (what, error) => world.faults.push(`${what}: ${String(error)}`),
    volumesEvery: 1,
  });
  await ingest.start();
  running.push(ingest);
  return ingest;
}

async function trades(): Promise<number> {
  const { rows } = await world.database.pool.query<{ trades: number }>(
    'select count(*) as trades from data.trades',
  );
  return rows[0]!.trades;
}

async function progressOf(provider: Provider): Promise<IngestProgress | undefined> {
  return (await new FreshnessTable(world.database.pool).all()).get(provider);
}

const trade = (id: string, provider: Provider = 'venue_a'): MarketDataEvent =>
  tradeEvent(provider, 'm', { source_id: id, source_ts: START + id.length });

it('writes rows from feeds, and resumes after a restart', async () => {
  const feed = new ScriptedFeed('venue_a');
  feed.give([marketEvent('venue_a', 'm'), trade('a')], START + 50);
  const first = await start(feed);
  await eventually(() => expect(first.isCaughtUp).toBe(true));
  expect(await trades()).toBe(1);
  await first.stop();
  expect(await progressOf('venue_a')).toMatchObject({ state: 'running', asOf: START + 50, lagEvents: 0 });
  running = [];
  feed.give([trade('b')], START + 60);
  await start(feed);
  await eventually(async () => expect(await trades()).toBe(2));
  expect(feed.begunAt).toEqual([undefined, '1']);
  await eventually(async () => expect(await progressOf('venue_a')).toMatchObject({ asOf: START + 60 }));
});

it('an indexer was stuck and served old data as new (graph-node issue 5101): data that are not applied do not count as fresh', async () => {
  const feed = new ScriptedFeed('venue_a');
  const pauses = new PauseTable(world.database.pool);
  feed.give([marketEvent('venue_a', 'm'), trade('a')], START + 50);
  await start(feed);
  await eventually(async () => expect(await progressOf('venue_a')).toMatchObject({ asOf: START + 50 }));
  await pauses.pause('venue_a');
  await eventually(async () => expect(await progressOf('venue_a')).toMatchObject({ state: 'paused' }));
  feed.give([trade('b')], START + 90);
  await eventually(async () =>
    expect(await progressOf('venue_a')).toMatchObject({ state: 'paused', asOf: START + 50, lagEvents: 2 }),
  );
  expect(await trades()).toBe(1);
  await pauses.resume('venue_a');
  await eventually(async () =>
    expect(await progressOf('venue_a')).toMatchObject({ state: 'running', asOf: START + 90, lagEvents: 0 }),
  );
  expect(await trades()).toBe(2);
});

it('a source that fails or sends bad bodies resumes from its last cursor and stops no other', async () => {
  const [broken, sound] = [new ScriptedFeed('venue_a'), new ScriptedFeed('venue_c')];
  broken.give([marketEvent('venue_a', 'm'), trade('a')]);
  broken.steps.push(new Error('the venue hangs up'), {
    quarantined: 'prices are all 0',
    body: '{"price":0}\0',
  });
  sound.give([marketEvent('venue_c', 'm'), trade('a', 'venue_c')]);
  await start(broken, sound);
  await eventually(async () =>
    expect(await progressOf('venue_a')).toMatchObject({ isQuarantined: true, quarantined: 1 }),
  );
  expect(await progressOf('venue_c')).toMatchObject({
    isQuarantined: false,
    quarantined: 0,
    state: 'running',
  });
  expect(await trades()).toBe(2);
  expect(broken.begunAt).toEqual([undefined, '1']);
  expect(world.faults).toEqual([expect.stringContaining('the venue hangs up')]);
  await eventually(async () =>
    expect(await new AlarmTable(world.database.pool).of('venue_a')).toMatchObject([
      { kind: 'quarantine', detail: 'prices are all 0' },
    ]),
  );
  broken.give([trade('b')]);
  await eventually(async () => expect(await progressOf('venue_a')).toMatchObject({ isQuarantined: false }));
  const { rows } = await world.database.pool.query('select reason, body from data.quarantine');
  expect(rows).toEqual([{ reason: 'prices are all 0', body: '{"price":0}\ufffd' }]);
});

it('a backfill reads the span again, and moves no cursor', async () => {
  const feed = new ScriptedFeed('venue_a');
  feed.give([marketEvent('venue_a', 'm'), trade('a')]);
  feed.history.push(trade('a'), trade('older'), tradeEvent('venue_a', 'm', { source_id: 'a', price: 7 }));
  const first = await start(feed);
  await eventually(() => expect(first.isCaughtUp).toBe(true));
  await new BackfillTable(world.database.pool).add({ provider: 'venue_a', from: START, to: undefined });
  await eventually(async () => expect(await trades()).toBe(2));
  await eventually(async () => expect(await progressOf('venue_a')).toMatchObject({ conflicts: 1 }));
  await first.stop();
  await start(feed);
  await eventually(() => expect(feed.begunAt).toEqual([undefined, '1']));
});

it('a journal that another process took over is opened again, and every event counts once', async () => {
  const feed = new ScriptedFeed('venue_a');
  feed.give([marketEvent('venue_a', 'm'), trade('a')]);
  const ingest = await start(feed);
  await eventually(() => expect(ingest.isCaughtUp).toBe(true));
  const other = await world.journal.open(0);
  await other.close();
  feed.give([trade('b')]);
  await eventually(async () => expect(await trades()).toBe(2));
  expect(world.faults).toEqual([expect.stringContaining('journal')]);
});

it('a recorded provider is as fresh as its newest event', async () => {
  const feed = new ScriptedFeed('venue_f', 'recorded');
  feed.give([marketEvent('venue_f', 'm'), tradeEvent('venue_f', 'm', { source_ts: START + 77 })]);
  await start(feed);
  await eventually(async () =>
    expect(await progressOf('venue_f')).toMatchObject({
      isRecorded: true,
      asOf: START + 77,
      reachesListing: true,
    }),
  );
});

it('an alarm is raised if a venue counts trades that never arrived', async () => {
  const feed = new CountingFeed('venue_b');
  feed.give([marketEvent('venue_b', 'm'), trade('a', 'venue_b')], START + 50);
  await start(feed);
  await eventually(async () =>
    expect((await new AlarmTable(world.database.pool).of('venue_b')).map(({ kind }) => kind)).toContain(
      'volume_apart',
    ),
  );
});
