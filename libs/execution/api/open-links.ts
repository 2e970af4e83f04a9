import { type JournalNotice, journalNotices } from '#libs/link/journal-notices.js';
import { openLink } from '#libs/link/link-client.js';
import { receiveNotices } from '#libs/link/notices.js';
import { type serviceTokenSettings, watchServiceTokens } from '#libs/link/service-tokens.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { processSettings } from '#libs/platform/settings/process-settings.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { CellRequest } from '../protocol/cell-protocol.js';
import type { ExecutorLinkRequest } from '../protocol/executor-protocol.js';
import { cellOf } from '../protocol/routing.js';
import { toWire } from '../protocol/wire.js';
import { AMEND_PATIENCE_MS, CELL_PATIENCE_MS, Cells } from './cells.js';
import type { ExecutionSettings } from './execution-settings.js';
import { ExecutorClient } from './executor-client.js';
import type { StreamCells } from './stream/open-socket-stream.js';

/** How long after the stop signal the links stay open. Calls that still wait for a cell then get 503 while sockets are open. */
const LAST_REPLIES_MS = 5_000;

export interface LinksParts {
  readonly config: Config<typeof processSettings & typeof serviceTokenSettings>;
  readonly settings: Pick<ExecutionSettings, 'cellUrls' | 'executorUrl'>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly scope: ProcessScope;
  readonly tracing: Tracing;
}

export interface ExecutionLinks {
  readonly cells: Cells;
  readonly executor: ExecutorClient;
  /** The same cells, for the `/ws` stream. */
  readonly followed: StreamCells;
}

/** Opens the links to all cells and the executor. They always use the current service token. */
export function openExecutionLinks({
  config,
  settings,
  log,
  clock,
  scope,
  tracing,
}: LinksParts): ExecutionLinks {
  const tokens = watchServiceTokens(config, { clock, log, scope });
  const notices: { handle: (cell: number, notice: JournalNotice) => void } = { handle: () => undefined };
  const links = settings.cellUrls.map((url, cell) =>
    openLink<CellRequest>(tokens, {
      ...{ url, peer: config.INSTANCE, clock, write: toWire, timeoutMillis: AMEND_PATIENCE_MS },
      trace: { tracing, shard: cell },
      onNotice: receiveNotices(journalNotices, (notice) => {
        notices.handle(cell, notice);
      }),
    }),
  );
  const executor = new ExecutorClient(
    openLink<ExecutorLinkRequest>(tokens, {
      ...{ url: settings.executorUrl, peer: config.INSTANCE, clock, write: toWire },
    }),
  );
  const cells = new Cells(links);
  const close = (): void => {
    cells.close();
    executor.close();
  };
  scope.stopping.addEventListener('abort', () => clock.after(LAST_REPLIES_MS, close));
  scope.onStop('cells', close);
  const followed: StreamCells = {
    count: links.length,
    cellOf: (user) => cellOf(user, links.length),
    ask(cell, request) {
      const link = links[cell];
      if (link === undefined) throw new Error(`there is no cell ${cell}`);
      return link.request(request, CELL_PATIENCE_MS);
    },
    onNotice(handle) {
      notices.handle = handle;
    },
  };
  return { cells, executor, followed };
}
