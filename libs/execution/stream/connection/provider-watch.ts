import type { VenueId } from '../../rules/venues.js';
import type { VenueAccess, StreamCaller } from '../ports.js';

export interface AccessChange {
  readonly venue: VenueId;
  readonly enabled: boolean | null;
}

/** The venues that a connection may hear of, as last checked. */
export class ProviderWatch {
  private readonly known = new Map<VenueId, boolean | null>();

  constructor(
    private readonly access: VenueAccess,
    private readonly venues: readonly VenueId[],
    private readonly callerNow: () => StreamCaller,
  ) {
    for (const venue of venues) this.known.set(venue, access.enabled(callerNow(), venue));
  }

  readonly denied = (): ReadonlySet<VenueId> =>
    new Set([...this.known].filter(([, enabled]) => enabled !== true).map(([venue]) => venue));

  /** The venues that are not enabled. */
  unusual(): AccessChange[] {
    return [...this.known]
      .filter(([, enabled]) => enabled !== true)
      .map(([venue, enabled]) => ({ venue, enabled }));
  }

  /** What changed since the last check. */
  look(): AccessChange[] {
    const caller = this.callerNow();
    const changes: AccessChange[] = [];
    for (const venue of this.venues) {
      const enabled = this.access.enabled(caller, venue);
      if (enabled === this.known.get(venue)) continue;
      this.known.set(venue, enabled);
      changes.push({ venue, enabled });
    }
    return changes;
  }
}
