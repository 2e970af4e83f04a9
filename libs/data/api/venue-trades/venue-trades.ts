import type { Clock } from '#libs/platform/time/clock.js';
import type { MarketReader } from '../../store/market-reader.js';
import { providerError, refuseUpstream } from '../upstream/refusals.js';
import type { Upstreams } from '../upstream/upstream.js';
import { Burst } from './burst.js';
import { shownOfA, shownOfB, type TradeSpan } from './shown-trades.js';

export interface VenueTradesPorts {
  readonly upstreams: Pick<Upstreams, 'of'>;
  readonly markets: Pick<MarketReader, 'find'>;
  readonly clock: Clock;
}

export interface WantedOfB extends TradeSpan {
  readonly ticker: string;
  readonly limit: number;
  readonly cursor: string | undefined;
}

export interface WantedOfA extends TradeSpan {
  readonly ids: readonly string[];
  readonly limit: number;
}

const NOTHING = JSON.stringify({ trades: [], metrics: {} });

/** Reads trades of two venues live, and makes the texts of replies. */
export class VenueTrades {
  private readonly ofVenueA: Burst;
  private readonly ofVenueB: Burst;

  constructor(private readonly ports: VenueTradesPorts) {
    this.ofVenueA = new Burst(ports.clock);
    this.ofVenueB = new Burst(ports.clock);
  }

  ofB({ ticker, limit, cursor, from, to }: WantedOfB): Promise<string> {
    const key = JSON.stringify([ticker, limit, cursor ?? null, from ?? null, to ?? null]);
    return this.ofVenueB.of(key, async () => {
      const read = await this.ports.upstreams.of('venue_b')?.tradesOfB({ ticker, limit, cursor });
      // Any failure counts as an error of the venue, even an unknown ticker.
      if (read?.ok !== true) throw providerError('venue_b');
      return JSON.stringify(shownOfB(read.value, { from, to }));
    });
  }

  ofA({ ids, limit, from, to }: WantedOfA): Promise<string> {
    const key = JSON.stringify([ids, limit, from ?? null, to ?? null]);
    return this.ofVenueA.of(key, async () => {
      const conditions = await this.conditionsOf(ids);
      if (conditions.length === 0) return NOTHING;
      const read = await this.ports.upstreams.of('venue_a')?.tradesOfA(conditions, limit);
      if (read === undefined) throw providerError('venue_a');
      if (!read.ok) throw refuseUpstream('venue_a', read.fault, ids.join(','));
      return JSON.stringify(shownOfA(read.value, { from, to }, limit));
    });
  }

  /** The condition ids, without repeats. An id in the form of a condition id is sent unchanged; an unknown id is left out. */
  private async conditionsOf(ids: readonly string[]): Promise<readonly string[]> {
    const named = ids.filter((id) => !isOnChain(id));
    const found = named.length === 0 ? undefined : await this.ports.markets.find('venue_a', named);
    const conditions = ids.map((id) => (isOnChain(id) ? id : found?.get(id)?.state.details.condition_id));
    return [...new Set(conditions.filter((condition) => condition !== undefined))];
  }
}

function isOnChain(id: string): boolean {
  return id.startsWith('0x');
}
