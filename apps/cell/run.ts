import { createInternalServer } from '#libs/platform/internal-server/internal-server.js';
import { measureSessions } from '#libs/platform/database/session-metrics.js';
import { runProcess } from '#libs/platform/process/lifecycle.js';
import { createLogger } from '#libs/platform/process/log.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openTracing } from '#libs/platform/tracing/open-tracing.js';
import { serveCell } from './cell-process.js';
import { cellConfig, cellRules } from './config.js';

export function run(env: Environment): void {
  const config = loadConfigOrExit('cell', cellConfig, env, cellRules);
  const log = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
  const registry = createMetrics({ instance: config.INSTANCE });
  measureSessions(registry);

  runProcess({ log, supervised: config.SOTTO_SUPERVISED }, async (scope) => {
    const parts = { config, log, registry, scope, clock: new SystemClock() };
    const traced = await openTracing('cell', parts);
    await serveCell({ ...parts, ...traced, server: createInternalServer() });
  });
}
