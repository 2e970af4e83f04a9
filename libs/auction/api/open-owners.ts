import { journalNotices } from '#libs/link/journal-notices.js';
import { openLink } from '#libs/link/link-client.js';
import { receiveNotices } from '#libs/link/notices.js';
import { type serviceTokenSettings, watchServiceTokens } from '#libs/link/service-tokens.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { processSettings } from '#libs/platform/settings/process-settings.js';
import { GATEWAY_READS, type OwnerRequest } from '../protocol/protocol.js';
import type { AuctionSettings } from './auction-settings.js';
import { OwnerRouter } from './owner-router.js';

/** How long after the stop signal calls that still wait for an owner get 503, so that the answer can still be sent. */
const LAST_REPLIES_MS = 5_000;

export interface OwnersParts {
  readonly config: Config<typeof processSettings & typeof serviceTokenSettings>;
  readonly settings: Pick<AuctionSettings, 'ownerUrls' | 'ownerTimeoutMs'>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly scope: ProcessScope;
  readonly tracing: Tracing;
}

/** Opens the links to all owners. Each uses the service token that is current at the time. */
export function openOwners({ config, settings, log, clock, scope, tracing }: OwnersParts): OwnerRouter {
  const tokens = watchServiceTokens(config, { clock, log, scope });
  const links = settings.ownerUrls.map((url, shard) =>
    openLink<OwnerRequest>(tokens, {
      url,
      peer: config.INSTANCE,
      clock,
      headers: GATEWAY_READS,
      timeoutMillis: settings.ownerTimeoutMs,
      trace: { tracing, shard },
      onNotice: receiveNotices(journalNotices, (notice) => {
        router.noticed(shard, notice);
      }),
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
