import type { AccessFlags } from '#libs/identity/api-keys/provider-access.js';
import type { StreamCaller, VenueAccess } from '../../stream/ports.js';
import type { VenueId } from '../../rules/venues.js';

const ENABLED = { enabled: true, disabled: false, unknown: null } as const;

/** Whether a caller may use a venue. Operators switch access for API keys. Sessions always have it. */
export class KeyVenueAccess implements VenueAccess {
  constructor(private readonly flags: AccessFlags) {}

  enabled({ client_id }: StreamCaller, venue: VenueId): boolean | null {
    return client_id === undefined ? true : ENABLED[this.flags.accessOf(venue)];
  }
}
