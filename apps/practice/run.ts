import { randomUUID } from 'node:crypto';
import { openAdminServer } from '#libs/practice/admin/admin-server.js';
import { AdminSurface } from '#libs/practice/admin/admin-surface.js';
import { openVenue, type OpenVenue } from '#libs/practice/open-venue.js';
import { VENUE_KINDS } from '#libs/practice/venues/venue-kinds.js';
import { lockFolder } from '#libs/platform/files/folder-lock.js';
import { makeFolder } from '#libs/platform/files/make-folder.js';
import { startInternalServer } from '#libs/platform/internal-server/internal-server.js';
import type { Config, Environment } from '#libs/platform/settings/config.js';
import { runProcess, type ProcessScope } from '#libs/platform/process/lifecycle.js';
import { createLogger, type Logger } from '#libs/platform/process/log.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { loadConfigOrExit } from '#libs/platform/settings/process-settings.js';
import { markerOf } from '#libs/platform/supervision/marker.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { openTracing } from '#libs/platform/tracing/open-tracing.js';
import { practiceConfig } from './config.js';

const FOLDER_MODE = 0o700;

export function run(env: Environment): void {
  const config = loadConfigOrExit('practice', practiceConfig, env);
  const processLog = createLogger({ name: config.INSTANCE, level: config.LOG_LEVEL });
  const registry = createMetrics({ instance: config.INSTANCE });

  runProcess({ log: processLog, supervised: config.SOTTO_SUPERVISED }, async (scope) => {
    const clock = new SystemClock();
    const { log } = await openTracing('practice', { config, log: processLog, registry, scope, clock });
    let isOpen = false;
    const server = await startInternalServer(
      {
        registry,
        metricsTokens: config.METRICS_TOKENS,
        healthz: () => ({ ok: true, status: 'healthy' }),
        readyz: () => {
          if (scope.stopping.aborted) return { ok: false, status: 'draining' };
          return isOpen ? { ok: true, status: 'ready' } : { ok: false, status: 'opening' };
        },
      },
      config.INTERNAL_PORT,
      config.INTERNAL_HOST,
    );
    scope.onStop('listener', () => server.close());
    await lockDataFolder(config.PRACTICE_DATA_DIR, scope);
    const venues = await openVenues({ config, log, scope, clock });
    const onFault = (error: unknown): void => {
      log.error({ err: error }, 'a request to control the practice venues failed');
    };
    const admin = await openAdminServer(new AdminSurface(venues), config.PRACTICE_ADMIN_PORT, onFault);
    scope.onStop('admin', () => admin.close());
    const ports = Object.fromEntries(venues.map(({ venue, port }) => [venue.exchange_id, port]));
    log.info({ admin_port: admin.port, ports }, 'practice venues are open');
    isOpen = true;
  });
}

/** Two processes that write to the same log would damage it. */
async function lockDataFolder(folder: string, scope: ProcessScope): Promise<void> {
  await makeFolder(folder, FOLDER_MODE);
  const marker = await markerOf(folder);
  const outcome = await lockFolder(`practice-${marker.folder}`, `process ${process.pid}`);
  if ('heldBy' in outcome) throw new StartFault(`${folder} is in use (${outcome.heldBy})`);
  scope.onStop('folder', () => outcome.lock.release());
}

interface VenuesParts {
  readonly config: Config<typeof practiceConfig>;
  readonly log: Logger;
  readonly scope: ProcessScope;
  readonly clock: SystemClock;
}

async function openVenues({ config, log, scope, clock }: VenuesParts): Promise<OpenVenue[]> {
  const configured = [
    { name: 'b', exchange_id: 'venue_b', port: config.PRACTICE_B_PORT },
    { name: 'e', exchange_id: 'venue_e', port: config.PRACTICE_E_PORT },
  ] as const;
  const opened: OpenVenue[] = [];
  for (const { name, exchange_id, port } of configured) {
    const kind = VENUE_KINDS[exchange_id];
    if (!config.PRACTICE_VENUES.includes(name)) continue;
    const venue = await openVenue({
      ...{ exchange_id, kind, port, clock, newId: randomUUID, folder: config.PRACTICE_DATA_DIR },
      ...{ seed: config.PRACTICE_SEED, isStill: config.PRACTICE_STILL === '1' },
      onLost: (error) => scope.failNow(error),
      onFault: (error) => {
        log.error({ err: error, exchange_id }, 'a request to a practice venue failed');
      },
    });
    scope.onStop(exchange_id, () => venue.close());
    opened.push(venue);
  }
  return opened;
}
