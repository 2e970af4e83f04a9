/**
 * Replaces every process in the launcher's own tests: healthy, and stops when asked. STAND_IN changes this:
 * `deaf` (ignores signals and the launcher's end), `refuses` (wants a missing setting), `damaged` (finds
 * damaged data) or `talkative` (logs 300 MB before it is ready).
 */
import { createServer } from 'node:http';
import { defineConfig } from '#libs/platform/settings/config.js';
import {
  internalHandler,
  listen,
  startInternalServer,
} from '#libs/platform/internal-server/internal-server.js';
import { runProcess } from '#libs/platform/process/lifecycle.js';
import { createLogger } from '#libs/platform/process/log.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import { loadConfigOrExit, processSettings } from '#libs/platform/settings/process-settings.js';
import { integer } from '#libs/platform/settings/setting-types.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';

const behaviour = process.env.STAND_IN;
const wanted = behaviour === 'refuses' ? { ABSENT: { schema: integer(1), describe: 'never given' } } : {};
const definition = defineConfig({ ...processSettings, ...wanted });
const config = loadConfigOrExit('stand-in', definition, process.env);
const log = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });

runProcess({ log, supervised: config.SOTTO_SUPERVISED && behaviour !== 'deaf' }, async (scope) => {
  const routes = {
    registry: createMetrics({ process: config.INSTANCE }),
    healthz: () => ({ ok: true, status: 'healthy' }),
    readyz: () =>
      scope.stopping.aborted ? { ok: false, status: 'draining' } : { ok: true, status: 'ready' },
  };
  if (behaviour === 'damaged') throw new StartFault('what it works on is damaged', EXIT.damaged);
  if (behaviour === 'talkative') {
    for (let line = 0; line < 3_000; line += 1) log.info('x'.repeat(100_000));
  }
  const internal = await startInternalServer(routes, config.INTERNAL_PORT);
  scope.onStop('internal listener', () => internal.close());
  if (process.env.PORT !== undefined) {
    const server = createServer(internalHandler({ ...routes, registry: createMetrics({}) }));
    await listen(server, Number(process.env.PORT), '127.0.0.1');
    scope.onStop('public listener', () => void server.close());
  }
  scope.onStop('note', () => log.warn(`last words of ${config.INSTANCE}`));
  if (behaviour === 'deaf') {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
      process.removeAllListeners(signal).on(signal, () => undefined);
  }
});
