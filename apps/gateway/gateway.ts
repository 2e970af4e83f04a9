import { randomUUID } from 'node:crypto';
import type { NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Authenticator } from '#libs/edge/checks/credentials.js';
import { EdgeHttpAdapter } from '#libs/edge/server/edge-http-adapter.js';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import { AUCTION_DIALECT } from '#libs/auction/api/dialect.js';
import type { Answered } from '#libs/edge/dispatcher.js';
import type { Config } from '#libs/platform/settings/config.js';
import { projectionSessions } from '#libs/platform/database/database-sessions.js';
import { DatabasePulse, SCHEMA_ANSWERS } from '#libs/platform/database/database-pulse.js';
import { refuseUnfitDatabase } from '#libs/platform/database/fit-database.js';
import { startInternalServer } from '#libs/platform/internal-server/internal-server.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import { isUnanswered, openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openTracing } from '#libs/platform/tracing/open-tracing.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import { auditProviders } from '#libs/auction/api/audit/audit-providers.js';
import type { gatewayConfig } from './config.js';
import { CONTROLLERS, GatewayModule } from './gateway.module.js';
import { openGatewayIdentity } from './identity/open-identity.js';
import { operatorProviders } from '#libs/auction/api/operators/operator-providers.js';
import { openJournalReader } from './open-journal.js';
import { openOwners } from '#libs/auction/api/open-owners.js';
import { OwnerRouter } from '#libs/auction/api/owner-router.js';
import { CompletedReads } from '#libs/auction/api/auctions/completed-reads.js';
import { TimelineStream } from '#libs/auction/api/auctions/timeline-stream.js';
import { Readiness } from './readiness.js';
import { nowOf, openStream } from '#libs/auction/api/stream/open-stream.js';
import { StreamArchive } from '#libs/auction/api/stream/stream-archive.js';
import { StreamCommands } from '#libs/auction/api/stream/stream-commands.js';
import { streamEndpoint } from '#libs/auction/api/stream/stream-endpoint.js';
import { StreamSocketAdapter } from '#libs/auction/api/stream/stream-socket-adapter.js';
import { ACCOUNT_SETTINGS, DATABASE, NEW_ID, PROJECTIONS } from '#libs/auction/api/tokens.js';

export interface GatewayProcess {
  readonly config: Config<typeof gatewayConfig>;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
}

/** Far beyond what any of the gateway's reads takes, and within what a caller waits for. */
const DATABASE_ANSWER_MS = 5_000;

const NEST_OPTIONS: Pick<NestApplicationOptions, 'logger' | 'abortOnError' | 'bodyParser'> = {
  logger: false,
  abortOnError: false,
  bodyParser: false,
};

/** Opens what the gateway needs, in the order in which it must be closed again, and listens last. */
export async function serveGateway({ config, registry, scope, ...given }: GatewayProcess): Promise<void> {
  const clock = new SystemClock();
  const { tracing, log } = await openTracing('gateway', { config, log: given.log, registry, scope, clock });
  const pool = await openDatabase(config, scope);
  const projections = openProjections(config, scope);
  const journal = await openJournalReader({ config, log, pool, clock, scope });
  const owners = openOwners({ config, log, clock, scope, tracing });
  const identity = await openGatewayIdentity({ config, pool, clock, scope });
  const readiness = new Readiness(new DatabasePulse(pool, clock, SCHEMA_ANSWERS), owners, scope.stopping);

  const listener = openEdge(identity.authenticator, { clock, log, registry, tracing });
  const module = GatewayModule.with([
    { provide: DATABASE, useValue: pool },
    { provide: PROJECTIONS, useValue: projections },
    { provide: OwnerRouter, useValue: owners },
    { provide: Readiness, useValue: readiness },
    { provide: ACCOUNT_SETTINGS, useValue: { limitsFactor: config.LIMITS_FACTOR } },
    { provide: NEW_ID, useValue: randomUUID },
    ...identity.providers,
    ...auditProviders({ config, pool, projections, journal }),
    ...operatorProviders({
      pool,
      projections,
      journal,
      owners,
      clock,
      log,
      ownerUrls: config.OWNER_URLS,
      newId: randomUUID,
    }),
  ]);
  const app = await NestFactory.create(module, new EdgeHttpAdapter([listener]), NEST_OPTIONS);
  const controllers = CONTROLLERS.map((controller): object => app.get(controller));
  const streams = await openStream({
    config,
    pool: projections,
    journal,
    clock,
    log,
    registry,
    scope,
    owners,
    sessions: identity.sessions,
    commands: new StreamCommands(controllers, { newRequestId: randomUUID, now: nowOf(clock), tracing }),
    archive: new StreamArchive(owners, app.get(CompletedReads), app.get(TimelineStream), randomUUID),
  });
  scope.stopping.addEventListener('abort', () => {
    listener.drain((connections) => {
      log.warn({ connections }, 'connections were cut off, for there is no time left');
    });
  });
  app.useWebSocketAdapter(new StreamSocketAdapter(streams));
  listener.mount(controllers, [streamEndpoint.path], streams.accept);
  const internal = await startInternalServer(
    {
      registry,
      metricsTokens: config.METRICS_TOKENS,
      healthz: () => ({ ok: true, status: 'healthy' }),
      readyz: () => readiness.check(),
    },
    config.INTERNAL_PORT,
    config.INTERNAL_HOST,
  );
  scope.onStop('internal listener', () => internal.close());
  await app.init();
  scope.onStop('listener', () => app.close());
  await listener.listen(config.PORT, config.LISTEN_HOST);
  log.info({ port: config.PORT, host: config.LISTEN_HOST }, 'listening');
}

async function openDatabase(config: GatewayProcess['config'], scope: ProcessScope): Promise<Pool> {
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

/** On sessions of their own, so that who locks a projection keeps nobody from logging in. */
function openProjections(config: GatewayProcess['config'], scope: ProcessScope): Pool {
  const projections = openPool(config.DATABASE_URL, {
    applicationName: `${config.INSTANCE}-projections`,
    max: projectionSessions(config.DATABASE_POOL),
    answerTimeoutMs: DATABASE_ANSWER_MS,
    looksUp: true,
  });
  scope.onStop('pool of projections', () => projections.end());
  return projections;
}

interface EdgeParts {
  readonly clock: SystemClock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly tracing: Tracing;
}

function openEdge(authenticator: Authenticator, { clock, log, registry, tracing }: EdgeParts): EdgeListener {
  return new EdgeListener({
    dialect: AUCTION_DIALECT,
    authenticator,
    clock,
    newRequestId: randomUUID,
    isOutage: isUnanswered,
    onFault: (error, requestId, operationId) => {
      log.error({ err: error, request_id: requestId, operation: operationId }, 'a request failed');
    },
    onAnswer: answered(registry, log),
    tracing,
  });
}

const NANOS_PER_SECOND = 1e9;
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function answered(registry: Registry, log: Logger): (answered: Answered) => void {
  const requests = new Counter({
    name: 'sotto_http_requests_total',
    help: 'Requests answered, by operation and status',
    labelNames: ['operation', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'sotto_http_request_seconds',
    help: 'Time from the request to its answer',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers: [registry],
  });
  return ({ requestId, operationId = 'none', status, nanos }) => {
    log[levelOf(operationId, status)](
      { request_id: requestId, operation: operationId, status },
      `${operationId} answered with ${status}`,
    );
    requests.inc({ operation: operationId, status: String(status) });
    seconds.observe({ operation: operationId }, Number(nanos) / NANOS_PER_SECOND);
  };
}

/** Rare enough to be told each time; quotes come by the thousand and are found in the journal by the same id. */
const TOLD = new Set([
  ...['createAuction', 'cancelAuction', 'withdrawAllQuotes', 'login', 'logout', 'logoutAll'],
  ...['drainShard', 'resumeShard', 'imposeHalt', 'liftHalt', 'voidAuction'],
]);

function levelOf(operationId: string, status: number): 'error' | 'info' | 'debug' {
  if (status === 500) return 'error';
  return status > 500 || TOLD.has(operationId) ? 'info' : 'debug';
}
