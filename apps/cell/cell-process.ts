import type { Pool } from 'pg';
import type { Cell } from '#libs/execution/cell/cell.js';
import type { CellRequest } from '#libs/execution/protocol/cell-protocol.js';
import { fromWire } from '#libs/execution/protocol/wire.js';
import { journalNotices } from '#libs/link/journal-notices.js';
import { LinkServer } from '#libs/link/link-server.js';
import { NoticeBoard } from '#libs/link/notices.js';
import { watchServiceTokens } from '#libs/link/service-tokens.js';
import { DatabasePulse } from '#libs/platform/database/database-pulse.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { internalHandler, listen } from '#libs/platform/internal-server/internal-server.js';
import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import type { CellParts } from './cell-parts.js';
import { openCell } from './open-cell.js';

/** How long a failed cell can still be asked what is the matter with it. */
const FAILED_LINGER_MILLIS = 1_500;
const DATABASE_ANSWER_MS = 15_000;

/** The process around one cell: its listener, its health, and its end. */
export class CellProcess {
  private readonly pool: Pool;
  private readonly schema: DatabasePulse;
  private link: LinkServer<CellRequest> | undefined;
  private failure: string | undefined;

  constructor(private readonly parts: CellParts) {
    const { clock, config, scope } = parts;
    this.pool = openPool(config.DATABASE_URL, {
      applicationName: config.INSTANCE,
      max: config.DATABASE_POOL,
      answerTimeoutMs: DATABASE_ANSWER_MS,
      looksUp: true,
      stopping: scope.stopping,
    });
    this.schema = new DatabasePulse(this.pool, clock);
  }

  /** Answers for its health at once; serves when the cell has recovered. */
  async serve(): Promise<void> {
    const { clock, config, log, scope, server, tracing } = this.parts;
    // Asked last: a journal that fails while the process drains is no clean end.
    scope.onStop('journal', () => {
      if (this.failure !== undefined) throw new Error('the journal has failed');
    });
    scope.onStop('pool', () => this.pool.end());
    const tokens = watchServiceTokens(config, { clock, log, scope });
    await this.listen();
    const notices = new NoticeBoard(journalNotices);
    const cell: Cell = await openCell({
      ...this.parts,
      pool: this.pool,
      announce: (notice) => {
        notices.announce(notice);
      },
      onJournalFailure: (error) => {
        this.fail(error);
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
    link.attach(server);
    this.link = link;
    tokens.onChange(() => {
      link.dropRevoked();
    });
    scope.onStop('link', () => link.close());
    // Stopped before the link: what is in flight is finished, and its callers hear of it.
    scope.onStop('cell', () => cell.stop());
  }

  private async listen(): Promise<void> {
    const { config, registry, scope, server } = this.parts;
    const handler = internalHandler({
      registry,
      metricsTokens: config.METRICS_TOKENS,
      healthz: () => this.health(),
      readyz: () => this.readiness(),
    });
    server.on('request', (request, response) => {
      if (!handler.handle(request, response)) response.writeHead(404).end();
    });
    await listen(server, config.INTERNAL_PORT, config.INTERNAL_HOST);
    scope.onStop('listener', () => {
      handler.stop();
      server.close();
      server.closeAllConnections();
    });
  }

  /** Whoever is connected must not hear another word; the journal alone knows what became of the last batch. */
  private fail(error: unknown): void {
    const { clock, log, scope } = this.parts;
    if (this.failure !== undefined) return;
    this.failure = 'journal_failed';
    log.fatal({ err: error }, 'the journal has failed; a fresh process will recover from it');
    this.link?.cut();
    clock.after(FAILED_LINGER_MILLIS, () => scope.failNow(error));
  }

  private health(): Health {
    return this.failure === undefined ? { ok: true, status: 'healthy' } : { ok: false, status: this.failure };
  }

  private async readiness(): Promise<Health> {
    if (this.failure !== undefined) return this.health();
    if (this.parts.scope.stopping.aborted) return { ok: false, status: 'draining' };
    if (this.link === undefined) return { ok: false, status: 'recovering' };
    const reachable = await this.schema.answers();
    return reachable ? { ok: true, status: 'ready' } : { ok: false, status: 'database_unreachable' };
  }
}
