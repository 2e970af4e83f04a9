import { createServer } from 'node:http';
import { createLogger } from '#libs/platform/log.js';
import { createMetrics } from '#libs/platform/metrics.js';
import { runProcess, type ProcessScope } from '#libs/platform/lifecycle.js';
import { loadConfigOrExit } from '#libs/platform/process-settings.js';
import { ownerConfig } from './config.js';
import { serveOwner } from './owner.js';

const config = loadConfigOrExit('owner', ownerConfig, process.env);
const log = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
const registry = createMetrics({ instance: config.INSTANCE });

runProcess({ log, supervised: config.SOTTO_SUPERVISED }, (scope: ProcessScope) =>
  serveOwner({ config, log, registry, scope, server: createServer() }),
);
