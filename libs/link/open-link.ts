import { OwnerLink, type OwnerLinkOptions } from './client.js';
import type { ServiceTokens } from './service-tokens.js';

/** A link that shows whatever token is to be shown, and is renewed when that is another. */
export function openLink(tokens: ServiceTokens, options: Omit<OwnerLinkOptions, 'serviceToken'>): OwnerLink {
  const link = new OwnerLink({ ...options, serviceToken: () => tokens.shown() });
  tokens.onChange(() => {
    link.renew();
  });
  return link;
}
