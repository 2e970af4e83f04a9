import type { VenueMarket } from '../rules/markets.js';
import { venueNamed, type NamedVenue, type VenueId } from '../rules/venues.js';
import { VenueUnavailable, type VenueMarkets } from '../venues/port.js';
import { refuse } from './refusals.js';

/** The registered venues and their public markets. */
export class Venues {
  constructor(private readonly markets: ReadonlyMap<VenueId, VenueMarkets>) {}

  get ids(): readonly VenueId[] {
    return [...this.markets.keys()].sort();
  }

  has(venue: VenueId): boolean {
    return this.markets.has(venue);
  }

  /** Undefined if the id is unknown or its venue is not registered. */
  named(id: string): NamedVenue | undefined {
    const named = venueNamed(id);
    return named !== undefined && this.has(named.venue) ? named : undefined;
  }

  of(venue: VenueId): VenueMarkets {
    const markets = this.markets.get(venue);
    if (markets === undefined) throw new Error(`${venue} is not registered`);
    return markets;
  }

  /** Finds a market by any form of its id. Refuses with 404 if the venue has no such market, and 503 if the venue is unavailable. */
  async market(venue: VenueId, id: string): Promise<VenueMarket> {
    const market = await this.asked(() => this.of(venue).market(id));
    if (market === undefined) throw refuse('VALIDATION_MARKET_NOT_FOUND', 'The venue has no such market');
    return market;
  }

  /** Undefined also if the venue is unavailable. */
  async known(venue: VenueId, id: string): Promise<VenueMarket | undefined> {
    try {
      return await this.of(venue).market(id);
    } catch (error) {
      if (error instanceof VenueUnavailable) return undefined;
      throw error;
    }
  }

  async asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof VenueUnavailable)) throw error;
      throw refuse('EXCHANGE_UNAVAILABLE', 'The venue cannot be asked at present');
    }
  }
}
