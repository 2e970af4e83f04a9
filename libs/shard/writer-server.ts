import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { LinkServer } from '#libs/link/link-server.js';
import type { ServiceTokens } from '#libs/link/service-tokens.js';
import type { DatabasePulse } from '#libs/platform/database/database-pulse.js';
import { internalHandler, listen } from '#libs/platform/internal-server/internal-server.js';
import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { processSettings } from '#libs/platform/settings/process-settings.js';
import type { Clock } from '#libs/platform/time/clock.js';

/** How long the health of a writer whose journal has failed can still be read. */
const FAILED_LINGER_MILLIS = 1_500;

export interface WriterParts {
  readonly config: Config<typeof processSettings>;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly server: Server;
  readonly clock: Clock;
}

interface WriterDatabase {
  readonly pulse: DatabasePulse;
  /** What readiness reports before recovery. */
  readonly unreachable: string;
}

type Link = Pick<LinkServer<never>, 'attach' | 'close' | 'cut' | 'dropRevoked'>;

/** The process around the only writer of a journal: its listener, its health, and its exit when the journal has failed. */
export class WriterServer {
  private link: Link | undefined;
  private isDraining = (): boolean => false;
  private failure: string | undefined;

  constructor(
    private readonly parts: WriterParts,
    private readonly database: WriterDatabase,
  ) {
    // Checked last: a journal that fails while the process drains is no clean end, and the supervisor has to know.
    parts.scope.onStop('journal', () => {
      if (this.failure !== undefined) throw new Error('the journal has failed');
    });
  }

  /** Reports its health at once, but serves no requests yet. */
  async listen(): Promise<void> {
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

  /** Called once the writer has recovered. */
  serve(link: Link, tokens: ServiceTokens, isDraining = this.isDraining): void {
    this.isDraining = isDraining;
    link.attach(this.parts.server);
    this.link = link;
    tokens.onChange(() => {
      link.dropRevoked();
    });
    this.parts.scope.onStop('link', () => link.close());
  }

  /** No client may receive another reply: only the journal knows the outcome of the last batch. */
  fail(error: unknown): void {
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
    if (this.parts.scope.stopping.aborted || this.isDraining()) return { ok: false, status: 'draining' };
    if (this.link === undefined) return { ok: false, status: 'recovering' };
    const { pulse, unreachable } = this.database;
    return (await pulse.answers()) ? { ok: true, status: 'ready' } : { ok: false, status: unreachable };
  }
}
