import { resumePoints } from '../../stream/resume-point.js';
import type { Caller } from '#libs/edge/endpoint.js';
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { instantFromNanos } from '#libs/base/instant.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { refuseUnreadable } from '#libs/journal/journal-errors.js';
import { findIncarnation } from '#libs/journal/incarnation/topic-incarnation.js';
import { PostgresSnapshotStore } from '#libs/journal/postgres/postgres-snapshots.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import { type Logger, quietly } from '#libs/platform/process/log.js';
import { PostgresHistoryStore } from '../../projections/reader/history-store.js';
import { Feed } from '../../stream/feed/feed.js';
import { HistoryCatchUps } from '../../stream/feed/history-catch-up.js';
import { STREAM_LIMITS } from '#libs/auction/stream/stream-limits.js';
import type { Sessions } from '#libs/socket/session-guard.js';
import { SocketServer } from '#libs/socket/socket-server.js';
import { ResumeTokens } from '#libs/socket/resume-token.js';
import { openStreamHub } from '../../stream/stream-hub.js';
import type { OwnerRouter } from '../owner-router.js';
import { PresenceReporter } from './presence-reporter.js';
import { startingPoint } from './starting-point.js';
import type { StreamArchive } from './stream-archive.js';
import type { StreamCommands } from './stream-commands.js';
import { streamMetrics } from './stream-metrics.js';
import type { streamSettings } from './stream-settings.js';
import { StreamServer } from './stream-server.js';

export interface StreamParts {
  readonly config: Config<typeof streamSettings>;
  readonly pool: Pool;
  readonly journal: JournalReader;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly owners: OwnerRouter;
  readonly sessions: Sessions<Caller>;
  readonly commands: StreamCommands;
  readonly archive: StreamArchive;
}

/** Opens the stream. It takes handshakes once the feed has read the journals. */
export async function openStream(parts: StreamParts): Promise<StreamServer> {
  const {
    config,
    pool,
    journal: reader,
    clock,
    log,
    registry,
    scope,
    owners,
    sessions,
    commands,
    archive,
  } = parts;
  const snapshots = new PostgresSnapshotStore(pool, 'auction');
  const history = config.STREAM_HISTORY_EVENTS;
  const reportFault = quietly((shard, error) => {
    log.warn({ err: error, shard }, 'the journals cannot be followed now');
  }, clock);
  const feed = new Feed({
    reader,
    clock,
    shards: owners.shards.length,
    history,
    startingPoint: (shard) => startingPoint(shard, reader, snapshots, history),
    onFailure: (error, shard) => {
      reportFault(shard === undefined ? 'all' : String(shard), error);
    },
  });
  const meter = streamMetrics(registry, () => feed);
  await feed.start().catch(refuseUnreadable);
  owners.onNotice((shard, notice) => {
    feed.hear(shard, notice);
  });
  const presence = new PresenceReporter({
    gateway: randomUUID(),
    shards: owners.shards,
    ask: (shard, request) => owners.ask(shard, request),
    clock,
  });
  presence.start();
  const onFault = (error: unknown): void => {
    log.error({ err: error }, 'a stream message failed');
  };
  const limits = { ...STREAM_LIMITS, heartbeatMillis: config.STREAM_HEARTBEAT_MS };
  const hub = openStreamHub(
    {
      feed,
      histories: new HistoryCatchUps({ feed, store: new PostgresHistoryStore(pool), clock, limits }),
      tokens: new ResumeTokens(config.STREAM_KEYS, resumePoints, await findIncarnation(pool)),
      sessions,
      commands,
      archive,
      presence,
      meter,
      clock,
      limits,
      newId: randomUUID,
      onFault,
    },
    config.STREAM_CONNECTIONS_PER_ACCOUNT,
  );
  hub.start();
  scope.onStop('feed', () => feed.stop());
  scope.onStop('presence', () => {
    presence.stop();
  });
  return new StreamServer(new SocketServer(hub, onFault), sessions);
}

export function nowOf(clock: Clock): () => string {
  return () => instantFromNanos(clock.epochNanos());
}
