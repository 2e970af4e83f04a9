import type { DynamicModule, NestApplicationOptions } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { EdgeHttpAdapter } from '#libs/edge/server/edge-http-adapter.js';
import { refuseUnfitDatabase } from '#libs/platform/database/fit-database.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { startInternalServer } from '#libs/platform/internal-server/internal-server.js';
import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openTracing } from '#libs/platform/tracing/open-tracing.js';
import { AnswerLog } from './answer-log.js';
import { DATABASE_ANSWER_MS } from './database-answer.js';
import { openGatewayIdentity } from './identity/open-identity.js';
import type { ServiceName } from '#libs/platform/processes/catalogue.js';
import type { GatewayConfig, OpenService, ServiceParts } from './service.js';
import { SERVICES } from './services.js';

export interface GatewayProcess {
  readonly config: GatewayConfig;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
}

const NEST_OPTIONS: Pick<NestApplicationOptions, 'logger' | 'abortOnError' | 'bodyParser'> = {
  logger: false,
  abortOnError: false,
  bodyParser: false,
};

/** One app with a module for each service of the process. */
@Module({})
class GatewayModule {
  static of(services: readonly DynamicModule[]): DynamicModule {
    return { module: GatewayModule, imports: [...services] };
  }
}

/** Opens what the services need, and listens last. Parts close in reverse order. */
export async function serveGateway({ config, registry, scope, ...logging }: GatewayProcess): Promise<void> {
  const clock = new SystemClock();
  const { tracing, log } = await openTracing('gateway', { config, log: logging.log, registry, scope, clock });
  const pool = await openDatabase(config, scope);
  const catalogues = config.SERVES.map((name) => SERVICES[name].catalogue);
  const identity = await openGatewayIdentity({ config, pool, clock, scope, catalogues });
  const answers = new AnswerLog(registry, log);
  const shared = { config, log, registry, scope, clock, tracing, pool, identity };
  const [first, ...others] = config.SERVES;
  const services: [OpenService, ...OpenService[]] = [await openService(first, shared, answers)];
  for (const name of others) services.push(await openService(name, shared, answers));
  await serve(services, { config, registry, scope, log });
}

async function openService(
  name: ServiceName,
  shared: Omit<ServiceParts, 'onAnswer'>,
  answers: AnswerLog,
): Promise<OpenService> {
  const definition = SERVICES[name];
  return definition.open({ ...shared, onAnswer: answers.of(definition.loggedOperations) });
}

async function serve(
  services: readonly [OpenService, ...OpenService[]],
  { config, registry, scope, log }: GatewayProcess,
): Promise<void> {
  const [first, ...others] = services;
  const listeners = [first.listeners, ...others.map((service) => service.listeners)].flat();
  const adapter = new EdgeHttpAdapter([
    first.listeners[0].listener,
    ...listeners.slice(1).map(({ listener }) => listener),
  ]);
  const module = GatewayModule.of(services.map((service) => service.module));
  const app = await NestFactory.create(module, adapter, NEST_OPTIONS);
  for (const service of services) await service.mount(app);
  scope.stopping.addEventListener('abort', () => {
    for (const { listener } of listeners) {
      listener.drain((connections) => {
        log.warn({ connections }, 'connections were closed: the time to drain is over');
      });
    }
  });
  const internal = await startInternalServer(
    {
      registry,
      metricsTokens: config.METRICS_TOKENS,
      healthz: () => ({ ok: true, status: 'healthy' }),
      readyz: () => readinessOf(services),
    },
    config.INTERNAL_PORT,
    config.INTERNAL_HOST,
  );
  scope.onStop('internal listener', () => internal.close());
  await app.init();
  scope.onStop('listener', () => app.close());
  const host = config.LISTEN_HOST;
  for (const { listener, port } of listeners) {
    await listener.listen(port, host);
    log.info({ port, host }, 'listening');
  }
}

/** Ready if all services are; else the status of the first that is not. */
async function readinessOf([first, ...others]: readonly [OpenService, ...OpenService[]]): Promise<Health> {
  const ready = await first.readiness();
  const rest = await Promise.all(others.map((service) => service.readiness()));
  return [ready, ...rest].find(({ ok }) => !ok) ?? ready;
}

async function openDatabase(config: GatewayConfig, scope: ProcessScope): Promise<Pool> {
  const pool = openPool(config.DATABASE_URL, {
    applicationName: config.INSTANCE,
    max: config.DATABASE_POOL,
    answerTimeoutMs: DATABASE_ANSWER_MS,
    looksUp: true,
  });
  scope.onStop('pool', () => pool.end());
  await refuseUnfitDatabase(pool);
  return pool;
}
