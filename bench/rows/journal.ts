import { SystemClock } from '#libs/platform/time/system-clock.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { alternating } from '../alternating.js';
import { BareRows } from '../baselines/bare-rows.js';
import { EmmettStreams } from '../baselines/emmett-streams.js';
import type { Ground } from '../ground/ground.js';
import { closedLoop } from '../load/closed-loop.js';
import { revisionPayloads } from '../load/journal-rows.js';
import { asFastAs, type Bounds, type RowCheck, type RowOutcome, type Row, type Settings } from '../row.js';

const CALLERS = 16;
const MANY = 64;
const SHARD = 0;

/** Appends of one owner, compared with bare inserts and another event store. */
export const journal: Row = {
  name: 'journal',
  title: 'Journal append, Postgres adapter, one owner',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const { seconds } = settings;
    const database = await ground.database();
    const client = await database.connect();
    const bare = new BareRows(client);
    await bare.open();
    const emmett = await EmmettStreams.open(database.url);
    const clock = new SystemClock();
    const seals = new RecordMacs('auction', [Buffer.alloc(32)]);
    const journal = new PostgresJournal({
      family: 'auction',
      url: database.url,
      clock,
      opener: 'bench',
      seals,
    });
    const writer = await journal.open(SHARD);
    const [one = ''] = revisionPayloads(1);
    const [some, more] = [revisionPayloads(16), revisionPayloads(100)];
    const append = async (payloads: readonly string[]): Promise<void> => {
      await writer.append(payloads);
    };
    const batches = async (payloads: readonly string[], write: typeof append): Promise<number> => {
      return payloads.length * (await closedLoop(1, seconds, () => write(payloads)));
    };
    const insert = (payloads: readonly string[]): Promise<void> => bare.insert(payloads);
    const { medians, runs } = await alternating(
      {
        group16: () => closedLoop(CALLERS, seconds, () => bare.append(one)),
        append16: () => closedLoop(CALLERS, seconds, () => append([one])),
        emmett16: () => closedLoop(CALLERS, seconds, (caller) => emmett.append(caller, one)),
        append64: () => closedLoop(MANY, seconds, () => append([one])),
        emmett64: () => closedLoop(MANY, seconds, (caller) => emmett.append(caller, one)),
        insertsOf16: () => batches(some, insert),
        appendsOf16: () => batches(some, append),
        insertsOf100: () => batches(more, insert),
        appendsOf100: () => batches(more, append),
      },
      settings,
    );
    await writer.close();
    await emmett.close();
    await client.end();
    const close = { minimum: 0.85, goal: 0.95 };
    return {
      checks: [
        asFastAs(
          'appends of 16 callers',
          '/s',
          medians.append16,
          { name: 'bare group commit', measured: medians.group16 },
          { minimum: 0.7, goal: 0.9 },
        ),
        ...besideEmmett(medians),
        asFastAs(
          'rows in batches of 16',
          'rows/s',
          medians.appendsOf16,
          { name: 'multi-row INSERT', measured: medians.insertsOf16 },
          close,
        ),
        asFastAs(
          'rows in batches of 100',
          'rows/s',
          medians.appendsOf100,
          { name: 'multi-row INSERT', measured: medians.insertsOf100 },
          close,
        ),
      ],
      details: { runs },
    };
  },
};

/** The target compares our 64 callers with 16 of emmett. The comparison with 64 is only for information. */
export function besideEmmett(
  medians: Readonly<Record<'append64' | 'emmett16' | 'emmett64', number>>,
): RowCheck[] {
  const beside = (name: string, measured: number, bounds: Bounds): RowCheck =>
    asFastAs(`appends of ${MANY} callers`, '/s', medians.append64, { name, measured }, bounds);
  return [
    beside(`emmett-postgresql, ${CALLERS} callers, as the target asks`, medians.emmett16, {
      minimum: 10,
      goal: 20,
    }),
    beside(`emmett-postgresql, ${MANY} callers too`, medians.emmett64, { minimum: 0, goal: 1 }),
  ];
}
