import 'reflect-metadata';
import { createLogger } from '#libs/platform/log.js';
import type { Environment } from '#libs/platform/config.js';
import { runProcess } from '#libs/platform/lifecycle.js';
import { createMetrics } from '#libs/platform/metrics.js';
import { loadConfigOrExit } from '#libs/platform/process-settings.js';
import { gatewayConfig, gatewayRules } from './config.js';
import { serveGateway } from './gateway.js';

export function run(env: Environment): void {
  const config = loadConfigOrExit('gateway', gatewayConfig, env, gatewayRules);
  const log = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
  const registry = createMetrics({ instance: config.INSTANCE });

  runProcess({ log, supervised: config.SOTTO_SUPERVISED }, (scope) =>
    serveGateway({ config, log, registry, scope }),
  );
}
