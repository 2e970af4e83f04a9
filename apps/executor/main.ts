import { randomInt } from 'node:crypto';
import { Counter, Gauge } from 'prom-client';
import { EvidenceFeed } from '#libs/custody/evidence-feed.js';
import { PostgresSettlement } from '#libs/custody/postgres-settlement.js';
import { OwnerLink } from '#libs/owner-link/client.js';
import { startInternalServer } from '#libs/platform/internal-server.js';
import { runProcess } from '#libs/platform/lifecycle.js';
import { createLogger } from '#libs/platform/log.js';
import { createMetrics } from '#libs/platform/metrics.js';
import { openPool } from '#libs/platform/postgres.js';
import { loadConfigOrExit } from '#libs/platform/process-settings.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import { AwardCarrier } from './award-carrier.js';
import { executorConfig } from './config.js';

const config = loadConfigOrExit('executor', executorConfig, process.env);
const log = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
const registry = createMetrics({ instance: config.INSTANCE });

runProcess({ log, supervised: config.SOTTO_SUPERVISED }, async (scope) => {
  const clock = new SystemClock();
  const random = (): number => randomInt(2 ** 32) / 2 ** 32;
  const pool = openPool(config.DATABASE_URL, { applicationName: config.INSTANCE, max: config.DATABASE_POOL });
  scope.onStop('pool', () => pool.end());
  const feed = new EvidenceFeed(pool, clock, (error) => {
    log.error({ err: error }, 'the evidence could not be renewed');
  });
  void feed.start();
  scope.onStop('evidence', () => feed.stop());

  const settlements = new Counter({
    name: 'sotto_settlements_total',
    help: 'Attempts to settle an award, by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const carriers = config.OWNER_URLS.map((url) => {
    const link = new OwnerLink({ url, serviceToken: () => config.SERVICE_TOKEN, peer: config.INSTANCE, clock });
    scope.onStop('link', () => {
      link.close();
    });
    return new AwardCarrier({
      link,
      desk: new PostgresSettlement(pool, clock, random),
      clock,
      concurrency: config.EXECUTION_CONCURRENCY,
      meter: { settled: (outcome) => settlements.inc({ outcome }) },
      onFault: (what, error) => {
        log.warn({ err: error, part: what }, 'an award could not be carried and will be tried again');
      },
    });
  });
  new Gauge({
    name: 'sotto_awards_in_hand',
    help: 'Awards that are being settled',
    registers: [registry],
    collect() {
      this.set(carriers.reduce((sum, carrier) => sum + carrier.carrying, 0));
    },
  });
  for (const carrier of carriers) {
    carrier.start();
    scope.onStop('carrier', () => carrier.stop());
  }

  const server = await startInternalServer(
    {
      registry,
      healthz: () => ({ ok: true, status: 'healthy' }),
      readyz: async () => {
        if (scope.stopping.aborted) return { ok: false, status: 'draining' };
        await pool.query('select 1');
        return { ok: true, status: 'ready' };
      },
    },
    config.INTERNAL_PORT,
    config.INTERNAL_HOST,
  );
  scope.onStop('listener', () => server.close());
});
