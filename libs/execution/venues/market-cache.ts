import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { VenueMarket } from '../rules/markets.js';
import { VenueUnavailable, type VenueMarkets } from './port.js';

/** How old a cached market, or the answer that there is none, may be. */
const FRESH_NANOS = 2_000n * NANOS_PER_MILLI;
const MAX_KNOWN = 50_000;

interface CachedRecord {
  readonly market: VenueMarket | undefined;
  readonly asked_at: bigint;
}

/**
 * The last known record of each market. Records are kept for ever, so that known markets stay readable while the
 * venue does not answer. Concurrent requests for one market share one call.
 */
export class CachedMarkets implements VenueMarkets {
  private readonly known = new Map<string, CachedRecord>();
  private readonly asking = new Map<string, Promise<VenueMarket | undefined>>();

  constructor(
    private readonly markets: VenueMarkets,
    private readonly clock: Pick<Clock, 'monotonicNanos'>,
  ) {}

  async market(id: string): Promise<VenueMarket | undefined> {
    const known = this.known.get(id);
    if (known !== undefined && this.clock.monotonicNanos() - known.asked_at < FRESH_NANOS)
      return known.market;
    try {
      return await this.ask(id);
    } catch (error) {
      if (error instanceof VenueUnavailable && known?.market !== undefined) return known.market;
      throw error;
    }
  }

  async list(after: string | undefined, limit: number): Promise<readonly VenueMarket[]> {
    const asked_at = this.clock.monotonicNanos();
    const listed = await this.markets.list(after, limit);
    for (const market of listed) this.keep(market.market_id, { market, asked_at });
    return listed;
  }

  best: VenueMarkets['best'] = (market_id, outcome_index) => this.markets.best(market_id, outcome_index);
  status: VenueMarkets['status'] = () => this.markets.status();

  private ask(id: string): Promise<VenueMarket | undefined> {
    const asking = this.asking.get(id);
    if (asking !== undefined) return asking;
    const asked_at = this.clock.monotonicNanos();
    const asked = this.markets
      .market(id)
      .then((market) => {
        this.keep(id, { market, asked_at });
        if (market !== undefined) this.keep(market.market_id, { market, asked_at });
        return market;
      })
      .finally(() => this.asking.delete(id));
    this.asking.set(id, asked);
    return asked;
  }

  /** Invented ids must not fill the memory. Unknown markets are evicted first, then the oldest records. */
  private keep(id: string, known: CachedRecord): void {
    this.known.delete(id);
    this.known.set(id, known);
    if (this.known.size <= MAX_KNOWN) return;
    for (const [other, { market }] of this.known) if (market === undefined) this.known.delete(other);
    const [oldest] = this.known.keys();
    if (this.known.size > MAX_KNOWN && oldest !== undefined) this.known.delete(oldest);
  }
}
