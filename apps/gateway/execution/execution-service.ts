import { randomUUID } from 'node:crypto';
import type { Provider } from '@nestjs/common';
import type { Pool } from 'pg';
import { ApiKeysController } from '#libs/execution/api/account/api-keys.controller.js';
import { CredentialsController } from '#libs/execution/api/account/credentials.controller.js';
import { Reauthentication } from '#libs/execution/api/account/reauthentication.js';
import { VenueLinks } from '#libs/execution/api/account/venue-links.js';
import { executionDialect } from '#libs/execution/api/dialect.js';
import { ExecutionParts } from '#libs/execution/api/execution-parts.js';
import { executionSettingsOf } from '#libs/execution/api/execution-settings.js';
import { openExecutionLinks, type ExecutionLinks } from '#libs/execution/api/open-links.js';
import { OperatorBook } from '#libs/execution/api/operators/operator-book.js';
import { SwitchBook } from '#libs/execution/api/operators/switch-book.js';
import type { ProjectedReads } from '#libs/execution/api/reads.js';
import { Venues } from '#libs/execution/api/venues.js';
import { CentralExposure } from '#libs/execution/projections/reader/central-exposure.js';
import { EventReader } from '#libs/execution/projections/reader/event-reader.js';
import { FillReader } from '#libs/execution/projections/reader/fill-reader.js';
import { LedgerReader } from '#libs/execution/projections/reader/ledger-reader.js';
import { OrderReader } from '#libs/execution/projections/reader/order-reader.js';
import { EXECUTION_CATALOGUE } from '#libs/execution/protocol/enrolment.js';
import { CachedMarkets } from '#libs/execution/venues/market-cache.js';
import { openVenues } from '#libs/execution/venues/registry.js';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import { DatabasePulse, SCHEMA_ANSWERS } from '#libs/platform/database/database-pulse.js';
import { projectionSessions } from '#libs/platform/database/database-settings.js';
import { isUnanswered, openPool } from '#libs/platform/database/postgres.js';
import { DATABASE_ANSWER_MS } from '../database-answer.js';
import type { KeyedIdentity } from '../identity/open-identity.js';
import type { OpenService, ServiceDefinition, ServiceParts } from '../service.js';
import { ExecutionReadiness } from './execution-readiness.js';
import { EXECUTION_CONTROLLERS, ExecutionModule } from './execution.module.js';
import { openOrderSockets } from './open-order-sockets.js';

export const executionService: ServiceDefinition = {
  catalogue: EXECUTION_CATALOGUE,
  /** Order commands are too many to log. The journal has them by request id. */
  loggedOperations: new Set([
    ...['cancelAllOrders', 'cancelAfter', 'enableTrading', 'venues.link', 'funds.transfer'],
    ...['createApiKey', 'changeApiKey', 'revokeApiKey', 'rotateApiKey'],
    ...['admin.switches.set', 'admin.breakers.reset', 'admin.apiAccess.set', 'admin.keys.grant'],
    ...['admin.keys.revoke', 'admin.orders.reconcile'],
  ]),
  open,
};

/** Opens the parts of order execution. They close in reverse order. */
async function open(shared: ServiceParts): Promise<OpenService> {
  const { config, log, scope, clock, pool, tracing } = shared;
  const settings = executionSettingsOf(config);
  const projections = openProjections(shared);
  const identity = await shared.identity.withKeys(EXECUTION_CATALOGUE.service, settings.keySecret);
  const links = openExecutionLinks({ config, settings, log, clock, scope, tracing });
  const venues = openMarkets(shared);
  const parts = new ExecutionParts({
    ...{ cells: links.cells, executor: links.executor, venues, clock, newId: randomUUID },
    reads: readsOf(projections),
    ...{ access: identity.keys.access, keys: identity.keys.service, minimum: settings.minimum },
    ...{ switches: new SwitchBook(pool, clock), operators: new OperatorBook(pool) },
  });
  const pulse = new DatabasePulse(pool, clock, SCHEMA_ANSWERS);
  const readiness = new ExecutionReadiness(pulse, links.cells, scope.stopping);
  const listener = openListener(shared, identity);
  return {
    module: ExecutionModule.with(providersOf(parts, identity, links)),
    listeners: [{ listener, port: config.EXECUTION_PORT }],
    async mount(app) {
      listener.mount(EXECUTION_CONTROLLERS.map((controller): object => app.get(controller)));
      await openOrderSockets({
        ...{ given: shared, parts, identity, links, listener },
        projected: new EventReader(projections),
      });
    },
    readiness: () => readiness.check(),
  };
}

function providersOf(parts: ExecutionParts, identity: KeyedIdentity, { cells }: ExecutionLinks): Provider[] {
  const { venues, clock, access } = parts.opened;
  const links = new VenueLinks(cells, clock);
  const reauthentication = new Reauthentication(identity.logins, identity.keys.throttle);
  return [
    { provide: ExecutionParts, useValue: parts },
    {
      provide: CredentialsController,
      useValue: new CredentialsController({ cells, venues, access, links, clock }),
    },
    { provide: ApiKeysController, useValue: new ApiKeysController(identity.keys.service, reauthentication) },
  ];
}

/** Public reads only. The executor reads what belongs to a user. */
function openMarkets({ config, clock }: ServiceParts): Venues {
  const opened = openVenues(config, { clock });
  return new Venues(new Map([...opened].map(([id, { markets }]) => [id, new CachedMarkets(markets, clock)])));
}

function readsOf(pool: Pool): ProjectedReads {
  return {
    orders: new OrderReader(pool),
    fills: new FillReader(pool),
    events: new EventReader(pool),
    ledger: new LedgerReader(pool),
    exposure: new CentralExposure(pool),
  };
}

/** In its own pool, so that a lock on a projection cannot delay orders. */
function openProjections({ config, scope }: ServiceParts): Pool {
  const projections = openPool(config.DATABASE_URL, {
    applicationName: `${config.INSTANCE}-execution`,
    max: projectionSessions(config.DATABASE_POOL),
    answerTimeoutMs: DATABASE_ANSWER_MS,
    looksUp: true,
  });
  scope.onStop('pool of the projections of orders', () => projections.end());
  return projections;
}

function openListener(
  { clock, log, tracing, onAnswer }: ServiceParts,
  { authenticator }: KeyedIdentity,
): EdgeListener {
  return new EdgeListener({
    dialect: executionDialect(authenticator),
    // The dialect authenticates callers itself.
    authenticator: { authenticate: () => 'unauthorized' },
    clock,
    newRequestId: randomUUID,
    isOutage: isUnanswered,
    onFault: (error, requestId, operationId) => {
      log.error({ err: error, request_id: requestId, operation: operationId }, 'a request failed');
    },
    onAnswer,
    tracing,
  });
}
