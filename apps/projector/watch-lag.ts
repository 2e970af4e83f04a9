import type { Logger } from '#libs/platform/process/log.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { LagMonitor, type LagMonitorPorts } from '#libs/projecting/following/lag.js';
import type { ProjectorConfig } from './config.js';

/** Time limits of the query for positions: of the statement, and of its answer. */
const STATEMENT_MS = 2_000;
const ANSWER_MS = 4_000;

export interface LagParts extends Pick<LagMonitorPorts, 'reader' | 'clock' | 'shards' | 'projection'> {
  readonly config: Pick<ProjectorConfig, 'DATABASE_URL' | 'INSTANCE'>;
  readonly log: Logger;
  readonly scope: ProcessScope;
}

/** Uses a connection of its own, so that it waits for no other query, and for locks only briefly. */
export function watchLag({ config, log, scope, ...ports }: LagParts): LagMonitor {
  const pool = openPool(config.DATABASE_URL, {
    applicationName: `${config.INSTANCE}-lag`,
    max: 1,
    statementTimeoutMs: STATEMENT_MS,
    answerTimeoutMs: ANSWER_MS,
    stopping: scope.stopping,
  });
  scope.onStop(`pool of lag monitor of ${ports.projection.name}`, () => pool.end());
  const lag = new LagMonitor({
    ...ports,
    pool,
    onFault: (what, error) => {
      log.warn({ err: error, part: what }, 'the lag of the projections could not be measured');
    },
  });
  lag.start();
  scope.onStop(`lag monitor of ${ports.projection.name}`, () => {
    lag.stop();
  });
  return lag;
}
