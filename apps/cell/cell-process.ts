import type { CellRequest } from '#libs/execution/protocol/cell-protocol.js';
import { fromWire } from '#libs/execution/protocol/wire.js';
import { journalNotices } from '#libs/link/journal-notices.js';
import { LinkServer } from '#libs/link/link-server.js';
import { NoticeBoard } from '#libs/link/notices.js';
import { watchServiceTokens } from '#libs/link/service-tokens.js';
import { DatabasePulse } from '#libs/platform/database/database-pulse.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { WriterServer } from '#libs/shard/writer-server.js';
import { openCell, type CellParts } from './open-cell.js';

const DATABASE_ANSWER_MS = 15_000;

/** Answers health checks at once. Serves requests once the cell has recovered. */
export async function serveCell(parts: CellParts): Promise<void> {
  const { clock, config, log, scope, tracing } = parts;
  const pool = openPool(config.DATABASE_URL, {
    applicationName: config.INSTANCE,
    max: config.DATABASE_POOL,
    answerTimeoutMs: DATABASE_ANSWER_MS,
    looksUp: true,
    stopping: scope.stopping,
  });
  const pulse = new DatabasePulse(pool, clock);
  const writer = new WriterServer(parts, { pulse, unreachable: 'database_unreachable' });
  scope.onStop('pool', () => pool.end());
  const tokens = watchServiceTokens(config, { clock, log, scope });
  await writer.listen();
  const notices = new NoticeBoard(journalNotices);
  const cell = await openCell({
    ...parts,
    pool,
    announce: (notice) => {
      notices.announce(notice);
    },
    onJournalFailure: (error) => {
      writer.fail(error);
    },
  });
  const { events } = await cell.start();
  const { epoch, sequence: head } = cell.head;
  log.info({ cell: config.CELL, epoch, head, events, orders: cell.gauges.liveOrders }, 'recovered');
  const link = new LinkServer<CellRequest>({
    serviceTokens: () => tokens.accepted(),
    handle: (request) => cell.handle(request),
    read: fromWire,
    notices,
    clock,
    onFault: (error, peer) => {
      log.error({ err: error, peer }, 'a request could not be handled');
    },
    tracing,
  });
  writer.serve(link, tokens);
  // Stopped before the link, so that requests in flight finish and their callers get an answer.
  scope.onStop('cell', () => cell.stop());
}
