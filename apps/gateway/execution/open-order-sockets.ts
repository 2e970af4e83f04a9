import { randomUUID } from 'node:crypto';
import type { ExecutionParts } from '#libs/execution/api/execution-parts.js';
import { executionDialect } from '#libs/execution/api/dialect.js';
import type { ExecutionLinks } from '#libs/execution/api/open-links.js';
import { CallerSessions } from '#libs/execution/api/stream/caller-sessions.js';
import { SocketCommandRouter } from '#libs/execution/api/stream/commands.js';
import { openSocketStream } from '#libs/execution/api/stream/open-socket-stream.js';
import { SocketCommands } from '#libs/execution/api/stream/socket-commands.js';
import { SocketUpgrades } from '#libs/execution/api/stream/socket-upgrades.js';
import { KeyVenueAccess } from '#libs/execution/api/stream/venue-access.js';
import type { UserEvents } from '#libs/execution/stream/user-events.js';
import type { EdgeListener } from '#libs/edge/server/edge-listener.js';
import { SERVER_LIMITS } from '#libs/edge/server/server-limits.js';
import { findIncarnation } from '#libs/journal/incarnation/topic-incarnation.js';
import { openStoreToRead } from '#libs/journal/stores/open-journal-store.js';
import { quietly } from '#libs/platform/process/log.js';
import type { KeyedIdentity } from '../identity/open-identity.js';
import type { ServiceParts } from '../service.js';

/** The most sockets that one user may have open. */
const SOCKETS_OF_USER = 10;
const FAMILY = 'execution';

interface SocketParts {
  readonly given: ServiceParts;
  readonly parts: ExecutionParts;
  readonly identity: KeyedIdentity;
  readonly links: ExecutionLinks;
  readonly projected: UserEvents;
  readonly listener: EdgeListener;
}

/** Opens `/ws`. Handshakes are accepted once it resolves. */
export async function openOrderSockets({
  given,
  parts,
  identity,
  links,
  projected,
  listener,
}: SocketParts): Promise<void> {
  const { config, log, scope, clock, pool, registry } = given;
  const { authenticator } = identity;
  const sessions = new CallerSessions(authenticator, randomUUID);
  const onFault = quietly((what: string, err: unknown) => {
    log.error({ err }, what);
  }, clock);
  const shards = Array.from({ length: links.followed.count }, (_, cell) => cell);
  const store = await openStoreToRead(config, {
    ...{ family: FAMILY, databaseUrl: config.DATABASE_URL, pool, clock, instance: config.INSTANCE, shards },
    tell: (line) => {
      log.warn(line);
    },
  });
  scope.onStop('journal store of orders', () => store.close());
  const stream = await openSocketStream({
    ...{ cells: links.followed, reader: store.reader, sessions, clock, registry },
    projected,
    commands: new SocketCommandRouter(new SocketCommands(parts.desk), randomUUID),
    access: new KeyVenueAccess(parts.opened.access),
    venues: parts.venues.ids,
    keys: config.STREAM_KEYS,
    limits: { heartbeatMillis: config.STREAM_HEARTBEAT_MS },
    incarnation: await findIncarnation(pool),
    socketsOfUser: SOCKETS_OF_USER * config.LIMITS_FACTOR,
    onFault: (error, what) => {
      onFault(what, error);
    },
  });
  scope.onStop('sockets of orders', () => stream.stop());
  listener.upgradeBy(
    new SocketUpgrades({
      ...{
        authenticator,
        sessions,
        sockets: stream.sockets,
        seats: stream.seats,
        clock,
        newRequestId: randomUUID,
      },
      ...{ dialect: executionDialect(authenticator), limits: SERVER_LIMITS },
      onFault: (error) => {
        onFault('a handshake failed', error);
      },
    }),
  );
}
