import 'reflect-metadata';
import { createLogger } from '#libs/platform/process/log.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { runProcess } from '#libs/platform/process/lifecycle.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import { measureSessions } from '#libs/platform/database/session-metrics.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import { gatewayConfig, gatewayRules } from './config.js';
import { serveGateway } from './gateway.js';

export function run(env: Environment): void {
  const config = loadConfigOrExit('gateway', gatewayConfig, env, gatewayRules);
  const log = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
  const registry = createMetrics({ instance: config.INSTANCE });
  measureSessions(registry);

  runProcess({ log, supervised: config.SOTTO_SUPERVISED }, (scope) =>
    serveGateway({ config, log, registry, scope }),
  );
}
