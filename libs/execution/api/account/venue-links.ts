import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { BoundedCache } from '#libs/identity/tokens/bounded-cache.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { OrderCaller } from '../../protocol/cell-protocol.js';
import type { VenueId } from '../../rules/venues.js';
import type { Cells } from '../cells.js';

const CACHED_MS = 10_000n;
const MOST_USERS = 20_000;

interface CachedLinks {
  readonly linked: ReadonlySet<VenueId>;
  readonly until: bigint;
}

/** Where users are linked, from their cells, cached for ten seconds. Refusals are not cached. */
export class VenueLinks {
  private readonly cache = new BoundedCache<CachedLinks>(MOST_USERS);

  constructor(
    private readonly cells: Cells,
    private readonly clock: Clock,
  ) {}

  async of(caller: OrderCaller): Promise<ReadonlySet<VenueId>> {
    const cached = this.cache.get(caller.user_id);
    const now = this.clock.monotonicNanos();
    if (cached !== undefined && cached.until > now) return cached.linked;
    const { links } = await this.cells.told<'links'>({ ...caller, op: 'links' });
    const linked = new Set(links.map(({ venue }) => venue));
    this.cache.set(caller.user_id, { linked, until: now + CACHED_MS * NANOS_PER_MILLI });
    return linked;
  }

  /** Call it after this process has linked an account. */
  forget(user_id: string): void {
    this.cache.delete(user_id);
  }
}
