import type { VenueMarket } from '../rules/markets.js';
import { venueNamed, type NamedVenue, type VenueId } from '../rules/venues.js';
import { VenueUnavailable, type VenueMarkets } from '../venues/port.js';
import { refuse } from './refusals.js';

/** The venues that are registered here, and their markets as anyone may read them. */
export class Venues {
  constructor(private readonly markets: ReadonlyMap<VenueId, VenueMarkets>) {}

  get ids(): readonly VenueId[] {
    return [...this.markets.keys()].sort();
  }

  has(venue: VenueId): boolean {
    return this.markets.has(venue);
  }

  /** Undefined for an id that is no venue's, and for a venue that is not registered. */
  named(id: string): NamedVenue | undefined {
    const named = venueNamed(id);
    return named !== undefined && this.has(named.venue) ? named : undefined;
  }

  of(venue: VenueId): VenueMarkets {
    const markets = this.markets.get(venue);
    if (markets === undefined) throw new Error(`${venue} is not registered`);
    return markets;
  }

  /** By any form of its id. What is unknown to a venue is 404; what cannot be asked is 503. */
  async market(venue: VenueId, id: string): Promise<VenueMarket> {
    const market = await this.asked(() => this.of(venue).market(id));
    if (market === undefined) throw refuse('VALIDATION_MARKET_NOT_FOUND', 'The venue has no such market');
    return market;
  }

  /** Undefined also where the venue cannot be asked. */
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
