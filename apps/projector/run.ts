import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { SHARDS } from '#libs/auction/protocol/routing.js';
import { onceDatabaseAnswers } from '#libs/platform/database/await-database.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { refuseUnfitDatabase } from '#libs/platform/database/fit-database.js';
import { startInternalServer } from '#libs/platform/internal-server/internal-server.js';
import { type ProcessScope, runProcess } from '#libs/platform/process/lifecycle.js';
import { createLogger, type Logger } from '#libs/platform/process/log.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import { measureSessions } from '#libs/platform/database/session-metrics.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { startExpiry } from '#libs/projecting/expiry.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { executionBooker } from '#libs/execution/projections/booking/booker.js';
import { executionProjection } from '#libs/execution/projections/projection.js';
import { follow, type Followed, openReader, projectorReadiness } from './follow.js';
import { projectorConfig, type ProjectorConfig, projectorRules } from './config.js';
import { ProjectorMetrics } from './projector-metrics.js';

/** Longer than any query here takes. The process must not wait for a database that vanished. */
const DATABASE_ANSWER_MS = 15_000;

interface ProcessParts {
  readonly config: ProjectorConfig;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly clock: SystemClock;
  readonly pool: Pool;
}

export function run(env: Environment): void {
  const config = loadConfigOrExit('projector', projectorConfig, env, projectorRules);
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
    let followed: readonly Followed[] | undefined;
    const server = await startInternalServer(
      {
        registry,
        metricsTokens: config.METRICS_TOKENS,
        healthz: () => ({ ok: true, status: 'healthy' }),
        readyz: () => projectorReadiness(followed, scope.stopping),
      },
      config.INTERNAL_PORT,
      config.INTERNAL_HOST,
    );
    scope.onStop('listener', () => server.close());

    const isAccepted = await onceDatabaseAnswers(() => refuseUnfitDatabase(pool), {
      clock,
      stopping: scope.stopping,
      onFault: (error) => {
        log.error({ err: error }, 'the check whether this release fits the database failed');
      },
    });
    if (isAccepted) followed = await followAll({ config, log, registry, scope, clock, pool });
  });
}

async function followAll({ registry, ...parts }: ProcessParts): Promise<readonly Followed[]> {
  const { config, log, scope, clock, pool } = parts;
  const all = { ...parts, metrics: new ProjectorMetrics(registry) };
  const shards = numbersBelow(SHARDS);
  const auctions = await openReader(all, { family: 'auction', shards });
  const followed = [follow(all, auctionProjection, { reader: auctions, shards, nameOf: String })];
  const stopExpiry = startExpiry(auctionProjection, {
    pool,
    clock,
    onFault: (error) => {
      log.warn({ err: error }, 'old answers could not be deleted');
    },
  });
  scope.onStop('pruning', stopExpiry);
  if (config.CELLS === 0) return followed;
  const cells = numbersBelow(config.CELLS);
  const reader = await openReader(all, { family: 'execution', shards: cells });
  return [
    ...followed,
    follow(all, executionProjection, { reader, shards: cells, nameOf: (cell) => `cell-${cell}` }),
    follow(all, executionBooker, { reader, shards: cells, nameOf: (cell) => `ledger-${cell}` }),
  ];
}

function numbersBelow(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number);
}
