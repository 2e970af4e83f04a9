import type { WebSocket } from 'ws';
import type { CallKind, Faults } from '../../faults.js';
import type { MarketTerms, Millis } from '../../venue/terms.js';
import type { PracticeVenuePort } from '../../venue/venue-reads.js';
import type { NewMarket, VenueAnswer, VenueRequest, VenueShell } from '../venue-shell.js';
import { readAction } from './actions.js';
import { EExchange } from './exchange.js';
import { EFeed } from './feed.js';
import { EInfo, questionIn } from './info.js';
import { newMarketOfE, seedsOfE } from './markets.js';

const KINDS: Readonly<Record<string, CallKind>> = {
  order: 'submit',
  cancel: 'cancel',
  cancelByCloid: 'cancel',
};

/**
 * Venue e: Hyperliquid's `/exchange` and `/info` as far as outcome markets need them, compatible with the published
 * client, and its market data socket. Comments mark what is not published.
 */
export class EShell implements VenueShell {
  readonly exchange_id = 'venue_e';
  private readonly exchange: EExchange;
  private readonly info: EInfo;

  constructor(private readonly parts: { readonly venue: PracticeVenuePort; readonly faults: Faults }) {
    this.exchange = new EExchange(parts.venue);
    this.info = new EInfo(parts.venue, parts.faults);
  }

  kindOf({ path, body }: VenueRequest): CallKind | undefined {
    if (path === '/info') return questionIn(body) === undefined ? undefined : 'read';
    return KINDS[readAction(body)?.action.type ?? ''];
  }

  async handle({ method, path, body }: VenueRequest): Promise<VenueAnswer> {
    if (path !== '/info' && path !== '/exchange') return { status: 404 };
    if (method !== 'POST') return { status: 405 };
    return path === '/info' ? this.info.handle(body) : this.exchange.handle(body);
  }

  faulty(fault: 'reject' | 'error' | 'rate_limit', request: VenueRequest): VenueAnswer {
    if (fault === 'error') return { status: 500, body: null };
    if (fault === 'rate_limit') return { status: 429, body: null };
    const kind = this.kindOf(request);
    if (kind === 'read') return { status: 422, body: 'rejected' };
    const statuses = [{ error: 'Order was rejected.' }];
    const type = kind === 'submit' ? 'order' : 'cancel';
    return { status: 200, body: { status: 'ok', response: { type, data: { statuses } } } };
  }

  refuseSocket({ path }: VenueRequest): VenueAnswer | undefined {
    return path === '/ws' ? undefined : { status: 404 };
  }

  socket(socket: WebSocket): void {
    new EFeed(socket, this.parts.venue);
  }

  seedMarkets(now: Millis): readonly MarketTerms[] {
    return seedsOfE(now);
  }

  newMarket(market: NewMarket, now: Millis): Omit<MarketTerms, 'publishes_grid' | 'closes_at' | 'seeded'> {
    return newMarketOfE(market, now, this.parts.venue.reads);
  }

  creditedAccount(account: string): string {
    return account.toLowerCase();
  }
}
