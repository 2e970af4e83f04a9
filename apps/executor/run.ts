import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import { CellUnavailable } from '#libs/execution/executor/cell-client.js';
import { Executor } from '#libs/execution/executor/executor.js';
import { PracticeCredit } from '#libs/execution/executor/practice-credit.js';
import type { CellLink, CellRequest } from '#libs/execution/protocol/cell-protocol.js';
import type { ExecutorLinkRequest } from '#libs/execution/protocol/executor-protocol.js';
import { fromWire, toWire } from '#libs/execution/protocol/wire.js';
import { SignerClient } from '#libs/execution/signer/signer-client.js';
import { openVenues } from '#libs/execution/venues/registry.js';
import { openLink } from '#libs/link/link-client.js';
import { LinkServer } from '#libs/link/link-server.js';
import { type ServiceTokens, watchServiceTokens } from '#libs/link/service-tokens.js';
import {
  createInternalServer,
  internalHandler,
  listen,
} from '#libs/platform/internal-server/internal-server.js';
import { type ProcessScope, runProcess } from '#libs/platform/process/lifecycle.js';
import { createLogger, type Logger, quietly } from '#libs/platform/process/log.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import type { Config, Environment } from '#libs/platform/settings/config.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openTracing } from '#libs/platform/tracing/open-tracing.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import { executorConfig, executorRules } from './config.js';
import { measureCalls, measureExecutor } from './executor-metrics.js';

const NAME_BYTES = 6;

interface ExecutorProcess {
  readonly config: Config<typeof executorConfig>;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracing: Tracing;
  readonly tokens: ServiceTokens;
}

export function run(env: Environment): void {
  const config = loadConfigOrExit('executor', executorConfig, env, executorRules);
  const processLog = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
  const registry = createMetrics({ instance: config.INSTANCE });

  runProcess({ log: processLog, supervised: config.SOTTO_SUPERVISED }, async (scope) => {
    const clock = new SystemClock();
    const { tracing, log } = await openTracing('executor', {
      ...{ config, log: processLog, registry, scope, clock },
    });
    const tokens = watchServiceTokens(config, { clock, log, scope });
    await serve({ config, registry, scope, clock, log, tracing, tokens });
  });
}

async function serve(parts: ExecutorProcess): Promise<void> {
  const { config, registry, scope, clock, log, tokens } = parts;
  const links = openCellLinks(parts);
  const server = await openListener(parts, links);
  const signer = new SignerClient({
    ...{ path: config.SIGNER_SOCKET, serviceToken: () => tokens.shown(), clock },
  });
  scope.onStop('link to the signer', () => {
    signer.close();
  });
  const venues = openVenues(config, { clock, signer });
  const executor = new Executor({
    ...{ links, venues, signer, clock, concurrency: config.EXECUTOR_CONCURRENCY },
    name: `${config.INSTANCE}:${randomBytes(NAME_BYTES).toString('hex')}`,
    meter: measureCalls(registry, venues.keys()),
    credit: creditOf(config),
    onFault: quietly((part, error) => {
      // Readiness and metrics report it too. Cells that are still starting are no reason to warn.
      const level = error instanceof CellUnavailable ? 'info' : 'warn';
      log[level]({ err: error, part }, 'a task failed and will be tried again');
    }, clock),
  });
  measureExecutor(registry, executor);
  serveGateways(parts, server, executor);
  executor.start();
  scope.onStop('executor', () => executor.stop());
}

function creditOf({
  VENUE_B_ACCOUNTS_URL: url,
  PRACTICE_CREDIT: amount,
}: ExecutorProcess['config']): PracticeCredit | undefined {
  return url === undefined || amount === undefined ? undefined : new PracticeCredit(url, amount);
}

function openCellLinks({ config, scope, clock, tracing, tokens }: ExecutorProcess): CellLink[] {
  return config.CELL_URLS.map((url, shard) => {
    const link: CellLink = openLink<CellRequest>(tokens, {
      ...{ url, peer: config.INSTANCE, clock, write: toWire, trace: { tracing, shard } },
    });
    scope.onStop('link to a cell', () => {
      link.close();
    });
    return link;
  });
}

function serveGateways(
  { scope, clock, log, tracing, tokens }: ExecutorProcess,
  server: Server,
  executor: Executor,
): void {
  const link = new LinkServer<ExecutorLinkRequest>({
    serviceTokens: () => tokens.accepted(),
    handle: (request) => executor.link.handle(request),
    read: fromWire,
    clock,
    onFault: (error, peer) => {
      log.error({ err: error, peer }, 'a request could not be handled');
    },
    tracing,
  });
  link.attach(server);
  tokens.onChange(() => {
    link.dropRevoked();
  });
  scope.onStop('link', () => link.close());
}

/** Ready while it is linked to every cell. Without a cell the orders of its users stay queued. */
async function openListener(
  { config, registry, scope }: ExecutorProcess,
  links: readonly CellLink[],
): Promise<Server> {
  const handler = internalHandler({
    registry,
    metricsTokens: config.METRICS_TOKENS,
    healthz: () => ({ ok: true, status: 'healthy' }),
    readyz: () => {
      if (scope.stopping.aborted) return { ok: false, status: 'draining' };
      const isLinked = links.every(({ connected }) => connected);
      return isLinked ? { ok: true, status: 'ready' } : { ok: false, status: 'cell_unreachable' };
    },
  });
  const server = createInternalServer((request, response) => {
    if (!handler.handle(request, response)) response.writeHead(404).end();
  });
  await listen(server, config.INTERNAL_PORT, config.INTERNAL_HOST);
  scope.onStop('listener', () => {
    handler.stop();
    server.close();
    server.closeAllConnections();
  });
  return server;
}
