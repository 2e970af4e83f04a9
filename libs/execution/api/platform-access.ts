import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import type { AccessFlags } from '#libs/identity/api-keys/provider-access.js';
import type { VenueId } from '../rules/venues.js';
import { emptyReply, refusal, refuse, RefusedCall } from './refusals.js';

/** Submits and cancels are denied with an empty body. */
export type Denial = 'bare' | 'told';

/** Checks whether API keys may use a venue. Sessions always may. If access cannot be verified, it is denied. */
export class PlatformAccess {
  constructor(private readonly flags: AccessFlags) {}

  check({ client_id }: Pick<ApiCaller, 'client_id'>, venue: VenueId, denial: Denial): void {
    if (client_id === undefined) return;
    const access = this.flags.accessOf(venue);
    if (access === 'enabled') return;
    if (access === 'unknown') {
      throw refuse('AUTH_ACCESS_UNVERIFIABLE', `API-key access to ${venue} cannot be verified at present`);
    }
    throw new RefusedCall(
      denial === 'bare'
        ? emptyReply(403)
        : refusal('AUTH_INSUFFICIENT_SCOPE', `API-key access to ${venue} is disabled`),
    );
  }
}
