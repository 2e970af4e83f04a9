import { readPreferences, type OwnerRequest } from '#libs/auction/protocol/protocol.js';
import { journalNotices } from '#libs/link/journal-notices.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { LinkServer } from '#libs/link/link-server.js';
import { NoticeBoard } from '#libs/link/notices.js';
import { watchServiceTokens } from '#libs/link/service-tokens.js';
import { projectionSessions } from '#libs/platform/database/database-settings.js';
import { DatabasePulse, SCHEMA_ANSWERS } from '#libs/platform/database/database-pulse.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { WriterServer } from '#libs/shard/writer-server.js';
import type { Pool } from 'pg';
import { openShard } from './open-shard.js';
import type { OwnerParts } from './open-journal.js';

/** Longer than any query here takes. The process must not wait for a database that vanished. */
const DATABASE_ANSWER_MS = 15_000;
/** For reads of single rows while a caller waits. */
const PROJECTIONS_ANSWER_MS = 5_000;

/** Answers health checks at once. Serves requests once the shard has recovered. */
export async function serveShard(parts: OwnerParts): Promise<void> {
  const { clock, config, log, scope, tracing } = parts;
  const { pool, projections } = openPools(parts);
  const pulse = new DatabasePulse(pool, clock, SCHEMA_ANSWERS);
  const writer = new WriterServer(parts, { pulse, unreachable: 'control_schema_unreachable' });
  scope.onStop('pool', () => pool.end());
  scope.onStop('pool of projections', () => projections.end());
  const tokens = watchServiceTokens(config, { clock, log, scope });
  await writer.listen();
  const notices = new NoticeBoard(journalNotices);
  const link = new LinkServer<OwnerRequest>({
    serviceTokens: () => tokens.accepted(),
    handle: (request, peer): Promise<LinkReply> => shard.handle(request, readPreferences(peer)),
    notices,
    clock,
    onFault: (error, peer) => {
      log.error({ err: error, peer }, 'a request could not be handled');
    },
    tracing,
  });
  const shard = await openShard({
    ...parts,
    ...{ pool, projections, tokens },
    announce: (notice) => {
      notices.announce(notice);
    },
    onJournalFailure: (error) => {
      writer.fail(error);
    },
  });
  const { events } = await shard.start();
  const { epoch, sequence: head } = shard.head;
  log.info({ shard: config.SHARD, epoch, head, events, auctions: shard.book.liveCount }, 'recovered');
  writer.serve(link, tokens, () => shard.conditions.draining);
  // Stopped before the link, so that requests in flight finish and their callers get an answer.
  scope.onStop('shard', () => shard.stop());
  scope.stopping.addEventListener('abort', () => {
    shard.conditions.leave();
  });
}

function openPools({ config, scope }: OwnerParts): { readonly pool: Pool; readonly projections: Pool } {
  const { DATABASE_URL: url, INSTANCE: instance, DATABASE_POOL: sessions } = config;
  return {
    // The journal and the reservations have connections of their own, and finish what they began.
    pool: openPool(url, {
      applicationName: instance,
      max: sessions,
      answerTimeoutMs: DATABASE_ANSWER_MS,
      looksUp: true,
      stopping: scope.stopping,
    }),
    // A separate pool: a lock on a projection must not keep the shard from reading its policy.
    projections: openPool(url, {
      applicationName: `${instance}-projections`,
      max: projectionSessions(sessions),
      answerTimeoutMs: PROJECTIONS_ANSWER_MS,
      looksUp: true,
      stopping: scope.stopping,
    }),
  };
}
