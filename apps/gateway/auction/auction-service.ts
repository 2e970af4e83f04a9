import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import type { Pool } from 'pg';
import { auctionSettingsOf, type AuctionSettings } from '#libs/auction/api/auction-settings.js';
import { auditProviders } from '#libs/auction/api/audit/audit-providers.js';
import { CompletedReads } from '#libs/auction/api/auctions/completed-reads.js';
import { TimelineStream } from '#libs/auction/api/auctions/timeline-stream.js';
import { AUCTION_DIALECT } from '#libs/auction/api/refusals.js';
import { openOwners } from '#libs/auction/api/open-owners.js';
import { operatorProviders } from '#libs/auction/api/operators/operator-providers.js';
import { OwnerRouter } from '#libs/auction/api/owner-router.js';
import { nowOf, openStream } from '#libs/auction/api/stream/open-stream.js';
import { StreamArchive } from '#libs/auction/api/stream/stream-archive.js';
import { StreamCommands } from '#libs/auction/api/stream/stream-commands.js';
import { streamEndpoint } from '#libs/auction/api/stream/stream.controller.js';
import { StreamSocketAdapter } from '#libs/auction/api/stream/stream-socket-adapter.js';
import { ACCOUNT_SETTINGS, DATABASE, NEW_ID, PROJECTIONS } from '#libs/auction/api/tokens.js';
import { AUCTION_CATALOGUE } from '#libs/auction/protocol/enrolment.js';
import type { Authenticator } from '#libs/edge/checks/check.js';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { DatabasePulse, SCHEMA_ANSWERS } from '#libs/platform/database/database-pulse.js';
import { projectionSessions } from '#libs/platform/database/database-settings.js';
import { isUnanswered, openPool } from '#libs/platform/database/postgres.js';
import { DATABASE_ANSWER_MS } from '../database-answer.js';
import type { OpenService, ServiceDefinition, ServiceParts } from '../service.js';
import { AuctionModule, CONTROLLERS } from './auction.module.js';
import { openJournalReader } from './open-journal.js';
import { Readiness } from './readiness.js';

export const auctionService: ServiceDefinition = {
  catalogue: AUCTION_CATALOGUE,
  /** Quote commands are too many to log. The journal has them by request id. */
  loggedOperations: new Set([
    ...['createAuction', 'cancelAuction', 'withdrawAllQuotes', 'login', 'logout', 'logoutAll'],
    ...['drainShard', 'resumeShard', 'imposeHalt', 'liftHalt', 'voidAuction'],
  ]),
  open,
};

interface AuctionParts extends ServiceParts {
  readonly settings: AuctionSettings;
  readonly projections: Pool;
  readonly journal: JournalReader;
  readonly owners: OwnerRouter;
}

/** Opens the parts of the auction service. They close in reverse order. */
async function open(shared: ServiceParts): Promise<OpenService> {
  const { config, log, scope, clock, pool, tracing } = shared;
  const settings = auctionSettingsOf(config);
  const projections = openProjections(shared);
  const journal = await openJournalReader({ config, log, pool, clock, scope });
  const owners = openOwners({ config, settings, log, clock, scope, tracing });
  const parts: AuctionParts = { ...shared, settings, projections, journal, owners };
  const { sessions, authenticator } = shared.identity.of(AUCTION_CATALOGUE.service);
  const readiness = new Readiness(new DatabasePulse(pool, clock, SCHEMA_ANSWERS), owners, scope.stopping);
  const listener = openListener(parts, authenticator);
  return {
    module: AuctionModule.with(providersOf(parts, readiness)),
    listeners: [{ listener, port: settings.port }],
    async mount(app) {
      const controllers = CONTROLLERS.map((controller): object => app.get(controller));
      const streams = await openStream({
        ...parts,
        pool: projections,
        sessions,
        commands: new StreamCommands(controllers, { newRequestId: randomUUID, now: nowOf(clock), tracing }),
        archive: archiveOf(app, owners),
      });
      app.useWebSocketAdapter(new StreamSocketAdapter(streams));
      listener.mount(controllers, [streamEndpoint.path], streams.accept);
    },
    readiness: () => readiness.check(),
  };
}

function providersOf(
  { config, settings, pool, projections, journal, owners, clock, log, identity }: AuctionParts,
  readiness: Readiness,
): Parameters<typeof AuctionModule.with>[0] {
  const { ownerUrls } = settings;
  const { INSTANCE: instance } = config;
  return [
    { provide: DATABASE, useValue: pool },
    { provide: PROJECTIONS, useValue: projections },
    { provide: OwnerRouter, useValue: owners },
    { provide: Readiness, useValue: readiness },
    { provide: ACCOUNT_SETTINGS, useValue: { limitsFactor: config.LIMITS_FACTOR } },
    { provide: NEW_ID, useValue: randomUUID },
    ...identity.providers,
    ...auditProviders({ settings, instance, pool, projections, journal }),
    ...operatorProviders({ pool, projections, journal, owners, clock, log, ownerUrls, newId: randomUUID }),
  ];
}

function archiveOf(app: INestApplication, owners: OwnerRouter): StreamArchive {
  return new StreamArchive(owners, app.get(CompletedReads), app.get(TimelineStream), randomUUID);
}

/** In its own pool, so that a lock on a projection cannot delay logins. */
function openProjections({ config, scope }: ServiceParts): Pool {
  const projections = openPool(config.DATABASE_URL, {
    applicationName: `${config.INSTANCE}-projections`,
    max: projectionSessions(config.DATABASE_POOL),
    answerTimeoutMs: DATABASE_ANSWER_MS,
    looksUp: true,
  });
  scope.onStop('pool of projections', () => projections.end());
  return projections;
}

function openListener(
  { clock, log, tracing, onAnswer }: ServiceParts,
  authenticator: Authenticator,
): EdgeListener {
  return new EdgeListener({
    dialect: AUCTION_DIALECT,
    authenticator,
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
