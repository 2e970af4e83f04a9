import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { BoundedCache } from '#libs/identity/tokens/bounded-cache.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { VenueId } from '../../rules/venues.js';

export type LinkedVenues = ReadonlySet<VenueId>;

const CACHED_MS = 10_000n;
const MOST_USERS = 20_000;

/** Where users are linked, as their cells say it, up to ten seconds old. What cannot be learnt is not remembered. */
export class VenueLinks {
  private readonly known = new BoundedCache<{ readonly links: LinkedVenues; readonly until: bigint }>(
    MOST_USERS,
  );

  constructor(private readonly clock: Clock) {}

  async of<Failure>(
    user_id: string,
    ask: () => Promise<LinkedVenues | Failure>,
    isKnown: (answer: LinkedVenues | Failure) => answer is LinkedVenues,
  ): Promise<LinkedVenues | Failure> {
    const seen = this.known.get(user_id);
    const now = this.clock.monotonicNanos();
    if (seen !== undefined && seen.until > now) return seen.links;
    const answer = await ask();
    if (isKnown(answer)) {
      this.known.set(user_id, { links: answer, until: now + CACHED_MS * NANOS_PER_MILLI });
    }
    return answer;
  }

  /** For what this process has just linked itself. */
  forget(user_id: string): void {
    this.known.delete(user_id);
  }
}
