import type { WebSocket } from 'ws';
import type { CallKind } from '../faults.js';
import type { MarketTerms, Millis, PracticeVenueId } from '../venue/terms.js';

export interface VenueRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** At most 256 KiB. */
  readonly body: string;
}

export interface VenueAnswer {
  readonly status: number;
  /** Sent as JSON; undefined sends no body. */
  readonly body?: unknown;
}

export interface NewMarket {
  readonly title?: string;
  readonly neg_risk: boolean;
  readonly shard?: number;
}

/**
 * A venue's own protocol over a practice venue. It is made with a `PracticeVenue`, which it asks for everything and whose state it reads,
 * and with the venue's `Faults`; whoever makes it gives it to `openVenueServer`, which brings listener, sockets, body limit and faults.
 * It keeps nothing that a restart would miss: what must stay goes through a command.
 */
export interface VenueShell {
  readonly exchange_id: PracticeVenueId;
  /** Which faults a request meets; undefined where it cannot be read, and where it is none of the four (a transfer): then none of them. */
  kindOf(request: VenueRequest): CallKind | undefined;
  /** Called once; a rejection becomes a 500. Reads wait for `venue.durable()` themselves. */
  handle(request: VenueRequest): Promise<VenueAnswer>;
  /** The protocol's own words for a fault. `reject` is a refusal of this very call by the venue's rules. */
  faulty(fault: 'reject' | 'error' | 'rate_limit', request: VenueRequest): VenueAnswer;
  /** What an upgrade is answered with: undefined opens the socket. */
  refuseSocket(request: VenueRequest): VenueAnswer | undefined;
  socket(socket: WebSocket, request: VenueRequest): void;

  /** The markets the venue has from its first start on: six, and those of which the auctions trade a contract. */
  seedMarkets(now: Millis): readonly MarketTerms[];
  /** Id, labels and tokens of a market made by call; the grid, if none is asked for, is the venue's own. */
  newMarket(market: NewMarket, now: Millis): Omit<MarketTerms, 'publishes_grid' | 'closes_at' | 'seeded'>;
  /** The account of the engine to which comes what is given from outside, for one as the admin surface names it; undefined: there is none. */
  creditedAccount(account: string, shard?: number): string | undefined;
  /** Where the venue hands out keys itself: a new account, or a new key to one that is named. The reply is what its owner needs. */
  openAccount?(account: string | undefined): Promise<Readonly<Record<string, string>>>;
}
