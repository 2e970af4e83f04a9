import type { Shard } from '#libs/auction/shard/shard.js';
import { type OwnerRequest, readPreferences } from '#libs/auction/protocol/protocol.js';
import { journalNotices } from '#libs/link/journal-notices.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { LinkServer } from '#libs/link/link-server.js';
import { NoticeBoard } from '#libs/link/notices.js';
import { watchServiceTokens } from '#libs/link/service-tokens.js';
import { projectionSessions } from '#libs/platform/database/database-settings.js';
import { DatabasePulse, SCHEMA_ANSWERS } from '#libs/platform/database/database-pulse.js';
import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import { internalHandler, listen } from '#libs/platform/internal-server/internal-server.js';
import { openPool } from '#libs/platform/database/postgres.js';
import type { Pool } from 'pg';
import { openShard } from './open-shard.js';
import type { OwnerParts } from './open-journal.js';

/** How long a failed owner can still be asked what is the matter with it. */
const FAILED_LINGER_MILLIS = 1_500;
/** Longer than anything that is asked here takes; a database that has gone without a word must not be waited for. */
const DATABASE_ANSWER_MS = 15_000;
/** Look-ups of single rows, for a caller who waits. */
const PROJECTIONS_ANSWER_MS = 5_000;

/** The process around one shard: its listener, its health, and its end. */
export class OwnerProcess {
  private readonly pool: Pool;
  private readonly projections: Pool;
  private readonly schema: DatabasePulse;
  private shard: Shard | undefined;
  private link: LinkServer<OwnerRequest> | undefined;
  private failure: string | undefined;

  constructor(private readonly parts: OwnerParts) {
    const { clock, config, scope } = parts;
    // Journal and reservations have connections of their own, and finish what they have begun.
    this.pool = openPool(config.DATABASE_URL, {
      applicationName: config.INSTANCE,
      max: config.DATABASE_POOL,
      answerTimeoutMs: DATABASE_ANSWER_MS,
      looksUp: true,
      stopping: scope.stopping,
    });
    // Whoever locks a projection must not keep this shard from the rules that it judges by.
    this.projections = openPool(config.DATABASE_URL, {
      applicationName: `${config.INSTANCE}-projections`,
      max: projectionSessions(config.DATABASE_POOL),
      answerTimeoutMs: PROJECTIONS_ANSWER_MS,
      looksUp: true,
      stopping: scope.stopping,
    });
    this.schema = new DatabasePulse(this.pool, clock, SCHEMA_ANSWERS);
  }

  /** Answers for its health at once; serves when the shard has recovered. */
  async serve(): Promise<void> {
    const { clock, config, log, scope, server, tracing } = this.parts;
    // Asked last: a journal that fails while the process drains is no clean end, and its supervisor has to hear of it.
    scope.onStop('journal', () => {
      if (this.failure !== undefined) throw new Error('the journal has failed');
    });
    scope.onStop('pool', () => this.pool.end());
    scope.onStop('pool of projections', () => this.projections.end());
    const tokens = watchServiceTokens(config, { clock, log, scope });
    await this.listen();
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
      ...this.parts,
      pool: this.pool,
      projections: this.projections,
      tokens,
      announce: (notice) => {
        notices.announce(notice);
      },
      onJournalFailure: (error) => {
        this.fail(error);
      },
    });
    this.shard = shard;
    const { events } = await shard.start();
    const { epoch, sequence: head } = shard.head;
    log.info({ shard: config.SHARD, epoch, head, events, auctions: shard.book.liveCount }, 'recovered');
    link.attach(server);
    this.link = link;
    tokens.onChange(() => {
      link.dropRevoked();
    });
    scope.onStop('link', () => link.close());
    // Stopped before the link: what is in flight is finished, and its callers hear of it.
    scope.onStop('shard', () => shard.stop());
    scope.stopping.addEventListener('abort', () => {
      shard.conditions.leave();
    });
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
    if (this.parts.scope.stopping.aborted || this.shard?.conditions.draining === true) {
      return { ok: false, status: 'draining' };
    }
    if (this.link === undefined) return { ok: false, status: 'recovering' };
    const reachable = await this.schema.answers();
    return reachable ? { ok: true, status: 'ready' } : { ok: false, status: 'control_schema_unreachable' };
  }
}
