import type { Logger } from '#libs/platform/process/log.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { LagMonitor, type LagMonitorPorts } from '#libs/projecting/following/lag.js';
import type { ProjectorConfig } from './config.js';

/** How long the database may think about where the projections are, and how long its answer may take. */
const LOOK_MS = 2_000;
const LOOK_ANSWER_MS = 4_000;

export interface LagParts extends Pick<LagMonitorPorts, 'reader' | 'clock' | 'shards' | 'projection'> {
  readonly config: Pick<ProjectorConfig, 'DATABASE_URL' | 'INSTANCE'>;
  readonly log: Logger;
  readonly scope: ProcessScope;
}

/** Asks on a connection of its own, which is not to be had for anything else and waits for nobody's locks for long. */
export function watchLag({ config, log, scope, ...ports }: LagParts): LagMonitor {
  const pool = openPool(config.DATABASE_URL, {
    applicationName: `${config.INSTANCE}-lag`,
    max: 1,
    statementTimeoutMs: LOOK_MS,
    answerTimeoutMs: LOOK_ANSWER_MS,
    stopping: scope.stopping,
  });
  scope.onStop(`pool of looks at ${ports.projection.name}`, () => pool.end());
  const lag = new LagMonitor({
    ...ports,
    pool,
    onFault: (what, error) => {
      log.warn({ err: error, part: what }, 'nobody could tell how far the projections are');
    },
  });
  lag.start();
  scope.onStop(`looks at ${ports.projection.name}`, () => {
    lag.stop();
  });
  return lag;
}
