import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { BoundedCache } from '#libs/identity/tokens/bounded-cache.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { OrderCaller } from '../../protocol/cell-protocol.js';
import type { VenueId } from '../../rules/venues.js';
import type { Cells } from '../cells.js';

const CACHED_MS = 10_000n;
const MOST_USERS = 20_000;

interface Known {
  readonly linked: ReadonlySet<VenueId>;
  readonly until: bigint;
}

/** Where users are linked, as their cells say it, up to ten seconds old. A refusal is not remembered. */
export class VenueLinks {
  private readonly known = new BoundedCache<Known>(MOST_USERS);

  constructor(
    private readonly cells: Cells,
    private readonly clock: Clock,
  ) {}

  async of(caller: OrderCaller): Promise<ReadonlySet<VenueId>> {
    const seen = this.known.get(caller.user_id);
    const now = this.clock.monotonicNanos();
    if (seen !== undefined && seen.until > now) return seen.linked;
    const { links } = await this.cells.told<'links'>({ ...caller, op: 'links' });
    const linked = new Set(links.map(({ venue }) => venue));
    this.known.set(caller.user_id, { linked, until: now + CACHED_MS * NANOS_PER_MILLI });
    return linked;
  }

  /** For what this process has just linked itself. */
  forget(user_id: string): void {
    this.known.delete(user_id);
  }
}
