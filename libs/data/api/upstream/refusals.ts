import type { Provider } from '../../rules/providers.js';
import { refuse, type RefusedRead } from '../refusals.js';
import type { UpstreamFault } from './upstream.js';

/** The default reply to a failed live read. It names the ids as the caller sent them. */
export function refuseUpstream(provider: Provider, fault: UpstreamFault, ids: string): RefusedRead {
  switch (fault) {
    case 'not-found':
      return refuse(404, `Resource not found: ${ids}`);
    case 'rate-limited':
      return refuse(429, 'Provider error: rate limited');
    case 'failed':
      return providerError(provider);
  }
}

/** Also used for a venue without a URL. */
export function providerError(provider: Provider): RefusedRead {
  return refuse(502, `Provider error: ${provider}`);
}
