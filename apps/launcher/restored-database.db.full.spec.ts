import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { RestoredMark } from '#libs/journal/restored/restored-mark.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { sharedLogin } from './database-logins.js';
import { planProcesses, type ProcessPlan } from './processes.js';
import { makeSecrets } from './secrets.js';

jest.setTimeout(60_000);

/** The first port, where no process listens. */
const NO_SERVER = '127.0.0.1:1';
/** Makes no difference: the mark of the restore is checked first. */
const KAFKA = { KAFKA_BROKERS: NO_SERVER, KAFKA_TOPIC_PREFIX: 'sotto.' };

let database: TestDatabase;
let plans: readonly ProcessPlan[];

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  await database.pool.query(
    `insert into journal.home (family, cluster_id, topic_prefix) values ('auction', 'there', 'sotto.')`,
  );
  await RestoredMark.set(database.pool, {
    journals: [0, 1, 2].map((shard) => ({ family: 'auction' as const, shard })),
    takenAt: '2026-11-21T00:00:00Z',
  });
  plans = planProcesses({
    databases: sharedLogin(database.url),
    secrets: makeSecrets(),
    limitsFactor: 1,
    journalPath: undefined,
    listenHost: '127.0.0.1',
    publicPorts: { gateway: [1] },
    services: ['auction'],
    internalUrls: { owner: [1, 2, 3].map((port) => `http://127.0.0.1:${port}`) },
  });
});
afterAll(() => database.drop());

it.each(['settler', 'projector', 'gateway'])('the %s refuses a restored database', async (kind) => {
  const plan = plans.find((planned) => planned.kind.name === kind)!;
  const child = spawn(process.execPath, [path.resolve('dist/apps', plan.script)], {
    env: { PATH: process.env.PATH, ...plan.env, ...KAFKA },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const patience = setTimeout(() => child.kill('SIGKILL'), 40_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(patience);
  const lines = Buffer.concat(output).toString();
  expect([code, lines]).toEqual([78, expect.stringContaining('was restored from a backup')]);
});
