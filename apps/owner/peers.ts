import type { OwnerLink } from '#libs/auction/protocol/protocol.js';
import { openLink } from '#libs/link/link-client.js';
import type { ServiceTokens } from '#libs/link/service-tokens.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { ownerConfig } from './config.js';

/** The links to the other owners, by shard. */
export function openPeers(
  config: Config<typeof ownerConfig>,
  tokens: ServiceTokens,
  clock: Clock,
  tracing: Tracing,
): Map<number, OwnerLink> {
  const peers = new Map<number, OwnerLink>();
  for (const [shard, url] of config.OWNER_URLS.entries()) {
    if (shard === config.SHARD) continue;
    peers.set(shard, openLink(tokens, { url, peer: config.INSTANCE, clock, trace: { tracing, shard } }));
  }
  return peers;
}
