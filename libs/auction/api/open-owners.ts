import { openLink } from '#libs/link/open-link.js';
import { heedServiceTokens } from '#libs/link/service-tokens.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { serviceTokenSettings } from '#libs/link/service-token-settings.js';
import type { processSettings } from '#libs/platform/settings/process-settings.js';
import type { ownerSettings } from './owner-settings.js';
import { OwnerRouter } from './owner-router.js';

/** From when the gateway is told to stop: whoever still waits for an owner then is told 503 while there is time to tell anything. */
const LAST_REPLIES_MS = 5_000;

export interface OwnersParts {
  readonly config: Config<typeof processSettings & typeof serviceTokenSettings & typeof ownerSettings>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly scope: ProcessScope;
  readonly tracing: Tracing;
}

/** The links to all owners, with whatever service token is to be shown at the time. */
export function openOwners({ config, log, clock, scope, tracing }: OwnersParts): OwnerRouter {
  const tokens = heedServiceTokens(config, { clock, log, scope });
  const links = config.OWNER_URLS.map((url, shard) =>
    openLink(tokens, {
      url,
      peer: config.INSTANCE,
      clock,
      reads: { activeOnly: true, readFallback: true },
      timeoutMillis: config.OWNER_TIMEOUT_MS,
      trace: { tracing, shard },
      onNotice: (notice) => {
        router.noticed(shard, notice);
      },
    }),
  );
  const router = new OwnerRouter(links);
  const close = (): void => {
    router.close();
  };
  scope.stopping.addEventListener('abort', () => clock.after(LAST_REPLIES_MS, close));
  scope.onStop('owners', close);
  return router;
}
