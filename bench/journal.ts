import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { JournalWriter } from '#libs/journal/journal.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { startEmbeddedPostgres } from '#libs/platform/embedded-postgres.js';
import { migrate } from '#libs/platform/migrate.js';
import { SystemClock } from '#libs/platform/system-clock.js';

/**
 * What the journal costs beside the bare commit underneath it: the same rows, the same number of callers, taken in turns so
 * that a machine which drifts drifts for both. `npm run bench`.
 */
const RUNS = 5;
const SECONDS = 2;
const CALLERS = 16;
const PAYLOAD = JSON.stringify({ type: 'BENCH', data: 'x'.repeat(360) });

interface Lane {
  readonly name: string;
  /** One write of one caller. */
  readonly write: () => Promise<void>;
}

async function perSecond({ write }: Lane): Promise<number> {
  const until = performance.now() + SECONDS * 1_000;
  let written = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (performance.now() < until) {
        await write();
        written += 1;
      }
    }),
  );
  return written / SECONDS;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Callers share a commit: what the database does at its best with rows that come one by one. */
function groupCommit(client: pg.Client): Lane {
  let waiting: (() => void)[] = [];
  let running = false;
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const rows = group.map(() => PAYLOAD);
      await client.query({
        name: 'raw',
        text: 'insert into bench_raw (payload) select unnest($1::text[])',
        values: [rows],
      });
      for (const done of group) done();
    }
    running = false;
  };
  return {
    name: 'bare group commit',
    write: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (running) return;
        running = true;
        queueMicrotask(() => void drain());
      }),
  };
}

function journal(writer: JournalWriter): Lane {
  return {
    name: 'journal append',
    write: async () => {
      await writer.append([PAYLOAD]);
    },
  };
}

const folder = await mkdtemp(path.join(tmpdir(), 'sotto-bench-'));
const server = await startEmbeddedPostgres({
  folder,
  logFile: path.join(folder, 'postgres.log'),
  removeFolder: true,
});
try {
  await migrate(server.url, journalMigrations, { info: () => undefined });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(
    'create table bench_raw (id bigint generated always as identity primary key, payload text)',
  );
  const writer = await new PostgresJournal({
    url: server.url,
    clock: new SystemClock(),
    opener: 'bench',
  }).open(0);
  const baseline = groupCommit(client);
  const measured = journal(writer);
  const figures = { baseline: [] as number[], measured: [] as number[] };
  for (let run = 0; run < RUNS; run += 1) {
    figures.baseline.push(await perSecond(baseline));
    figures.measured.push(await perSecond(measured));
    process.stdout.write(`run ${run + 1} of ${RUNS}\n`);
  }
  const [base, ours] = [median(figures.baseline), median(figures.measured)];
  process.stdout.write(`${baseline.name}: ${base.toFixed(0)}/s with ${CALLERS} callers\n`);
  process.stdout.write(`${measured.name}: ${ours.toFixed(0)}/s, ratio ${(ours / base).toFixed(2)}\n`);
  await writer.close();
  await client.end();
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
