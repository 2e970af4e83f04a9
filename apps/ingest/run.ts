import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { DataIngest } from '#libs/data/ingest/data-ingest.js';
import { Snapshots } from '#libs/data/ingest/snapshots.js';
import { LABELS_SHARD, PROVIDERS } from '#libs/data/rules/providers.js';
import { StartTable } from '#libs/data/store/start-table.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { PostgresStore } from '#libs/journal/stores/postgres-store.js';
import { onceDatabaseAnswers } from '#libs/platform/database/await-database.js';
import { refuseUnfitDatabase } from '#libs/platform/database/fit-database.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { measureSessions } from '#libs/platform/database/session-metrics.js';
import { startInternalServer } from '#libs/platform/internal-server/internal-server.js';
import { type ProcessScope, runProcess } from '#libs/platform/process/lifecycle.js';
import { createLogger, type Logger, quietly } from '#libs/platform/process/log.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import { keyBytes } from '#libs/platform/settings/setting-types.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { ingestConfig, type IngestConfig, ingestRules } from './config.js';
import { measureAlarms, measureIngest } from './ingest-metrics.js';
import { openSources } from './open-sources.js';
import { StartReadiness } from './start-readiness.js';
import { keepDays } from './keep-days.js';

/** No query here takes nearly as long. A database that is silent for longer is treated as lost. */
const DATABASE_ANSWER_MS = 30_000;
const FAMILY = 'data';
const SHARDS = [...PROVIDERS.keys(), LABELS_SHARD];

interface IngestProcess {
  readonly config: IngestConfig;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly clock: Clock;
  readonly pool: Pool;
  readonly readiness: StartReadiness;
}

export function run(env: Environment): void {
  const config = loadConfigOrExit('ingest', ingestConfig, env, ingestRules);
  const log = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
  const registry = createMetrics({ instance: config.INSTANCE });
  measureSessions(registry);

  runProcess({ log, supervised: config.SOTTO_SUPERVISED }, async (scope) => {
    const clock = new SystemClock();
    const pool = openPool(config.DATABASE_URL, {
      applicationName: config.INSTANCE,
      max: config.DATABASE_POOL,
      answerTimeoutMs: DATABASE_ANSWER_MS,
      stopping: scope.stopping,
    });
    scope.onStop('pool', () => pool.end());
    const readiness = new StartReadiness(scope.stopping);
    const server = await startInternalServer(
      {
        registry,
        metricsTokens: config.METRICS_TOKENS,
        healthz: () => ({ ok: true, status: 'healthy' }),
        readyz: () => readiness.health(),
      },
      config.INTERNAL_PORT,
      config.INTERNAL_HOST,
    );
    scope.onStop('listener', () => server.close());
    const start = new StartTable(pool);
    const mayBegin = await onceDatabaseAnswers(
      async () => {
        await refuseUnfitDatabase(pool);
        await start.write(false);
      },
      {
        clock,
        stopping: scope.stopping,
        onFault: (error) => {
          log.error({ err: error }, 'the database cannot be asked whether this release may work on it');
        },
      },
    );
    if (mayBegin) await ingest({ config, log, registry, scope, clock, pool, readiness }, start);
  });
}

/** Stops in the reverse order of opening. */
async function ingest(parts: IngestProcess, start: StartTable): Promise<void> {
  const { config, log, registry, scope, clock, pool, readiness } = parts;
  const onFault = quietly((part, error) => {
    log.warn({ err: error, part }, 'a step failed and will be retried');
  }, clock);
  const store = storeOf(parts);
  scope.onStop('journal store', () => store.close());
  const sources = await openSources(config, { pool, clock, onFault });
  scope.onStop('sources', () => sources.stop());
  const countAlarm = measureAlarms(registry);
  const running = new DataIngest(sources.feeds, {
    ...{ pool, clock, journal: store.journalOf(config.INSTANCE), reader: store.reader },
    onFault,
    onAlarm: (provider, { kind, detail }, count) => {
      countAlarm(provider, kind, count);
      log.warn({ provider, kind, detail }, 'market data alarm');
    },
  });
  await running.start();
  scope.onStop('ingest', () => running.stop());
  measureIngest(registry, running, clock);
  if (config.RETENTION_DAYS !== undefined)
    scope.onStop('retention', keepDays(config.RETENTION_DAYS, { pool, clock, onFault }));
  const snapshots = new Snapshots({ pool, clock, onFault });
  snapshots.start();
  scope.onStop('snapshots', () => snapshots.stop());
  scope.onStop('readiness', readiness.follow({ running, snapshots, start, clock, onFault }));
}

/** Journals of market data are always in PostgreSQL, even when the other services use Kafka. */
function storeOf({ config, log, pool, clock, scope }: IngestProcess): PostgresStore {
  const { DATABASE_URL: databaseUrl, INSTANCE: instance } = config;
  return new PostgresStore({
    ...{ family: FAMILY, databaseUrl, pool, clock, shards: SHARDS, instance, stopping: scope.stopping },
    seals: new RecordMacs(FAMILY, keyBytes(config.ID_KEY)),
    tell: (line) => {
      log.warn(line);
    },
  });
}
