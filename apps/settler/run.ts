import { RestoredMark } from '#libs/journal/restored/restored-mark.js';
import { onceDatabaseAnswers } from '#libs/platform/database/await-database.js';
import { DatabasePulse } from '#libs/platform/database/database-pulse.js';
import { refuseUnfitDatabase } from '#libs/platform/database/fit-database.js';
import { startInternalServer } from '#libs/platform/internal-server/internal-server.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { runProcess } from '#libs/platform/process/lifecycle.js';
import { createLogger } from '#libs/platform/process/log.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import { measureSessions } from '#libs/platform/database/session-metrics.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openTracing } from '#libs/platform/tracing/open-tracing.js';
import { settlerConfig, settlerRules } from './config.js';
import { evidenceFeed } from './evidence.js';
import { openCarriers } from './open-carriers.js';

/** Longer than any query here takes. The process must not wait for a database that vanished. */
const DATABASE_ANSWER_MS = 15_000;

export function run(env: Environment): void {
  const config = loadConfigOrExit('settler', settlerConfig, env, settlerRules);
  const processLog = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
  const registry = createMetrics({ instance: config.INSTANCE });
  measureSessions(registry);

  runProcess({ log: processLog, supervised: config.SOTTO_SUPERVISED }, async (scope) => {
    const clock = new SystemClock();
    const { tracing, log } = await openTracing('settler', {
      config,
      log: processLog,
      registry,
      scope,
      clock,
    });
    const pool = openPool(config.DATABASE_URL, {
      applicationName: config.INSTANCE,
      max: config.DATABASE_POOL,
      answerTimeoutMs: DATABASE_ANSWER_MS,
      stopping: scope.stopping,
    });
    scope.onStop('pool', () => pool.end());
    const database = new DatabasePulse(pool, clock);
    const server = await startInternalServer(
      {
        registry,
        metricsTokens: config.METRICS_TOKENS,
        healthz: () => ({ ok: true, status: 'healthy' }),
        readyz: async () => {
          if (scope.stopping.aborted) return { ok: false, status: 'draining' };
          return (await database.answers())
            ? { ok: true, status: 'ready' }
            : { ok: false, status: 'database_unreachable' };
        },
      },
      config.INTERNAL_PORT,
      config.INTERNAL_HOST,
    );
    scope.onStop('listener', () => server.close());

    // Leaves the database of a newer release alone. Awards that a restored ledger lacks must not be settled a
    // second time.
    const isAccepted = await onceDatabaseAnswers(
      async () => {
        await refuseUnfitDatabase(pool);
        await new RestoredMark(pool, 'auction').refuse();
      },
      {
        clock,
        stopping: scope.stopping,
        onFault: (error) => {
          log.error({ err: error }, 'the check whether awards may be settled on this database failed');
        },
      },
    );
    if (!isAccepted) return;
    const ttlMillis = config.RISK_EVIDENCE_TTL_MS;
    const feed = evidenceFeed({ pool, clock, log, registry, ttlMillis });
    void feed.start();
    scope.onStop('evidence', () => feed.stop());

    for (const carrier of openCarriers({ config, log, registry, scope, clock, pool, tracing })) {
      carrier.start();
      scope.onStop('carrier', () => carrier.stop());
    }
  });
}
