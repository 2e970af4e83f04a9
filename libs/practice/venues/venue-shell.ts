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
  /** Sent as JSON. If undefined, there is no body. */
  readonly body?: unknown;
}

export interface NewMarket {
  readonly title?: string;
  readonly neg_risk: boolean;
  readonly shard?: number;
}

/**
 * A venue's own protocol on top of a practice venue. `VenueServer` adds the listener, sockets, body limit and faults.
 * A shell keeps no state that a restart could lose: lasting changes go through a command.
 */
export interface VenueShell {
  readonly exchange_id: PracticeVenueId;
  /**
   * The kind of request, which selects its faults. Undefined if it cannot be read or is of no kind, such as a
   * transfer.
   */
  kindOf(request: VenueRequest): CallKind | undefined;
  /** Called once. A rejection becomes a 500. Reads must wait for `venue.durable()`. */
  handle(request: VenueRequest): Promise<VenueAnswer>;
  /** The protocol's answer to a fault. `reject` is a refusal of this call by the venue's rules. */
  faulty(fault: 'reject' | 'error' | 'rate_limit', request: VenueRequest): VenueAnswer;
  /** The refusal of an upgrade. Undefined opens the socket. */
  refuseSocket(request: VenueRequest): VenueAnswer | undefined;
  socket(socket: WebSocket, request: VenueRequest): void;

  /** The markets of the first start: six, and those with a contract that the auctions trade. */
  seedMarkets(now: Millis): readonly MarketTerms[];
  /** Id, labels and tokens of a market created by request. Without a requested grid it has the venue's own. */
  newMarket(market: NewMarket, now: Millis): Omit<MarketTerms, 'publishes_grid' | 'closes_at' | 'seeded'>;
  /**
   * The engine's account that gets a credit, for an account as the admin interface names it. Undefined if there is
   * none.
   */
  creditedAccount(account: string, shard?: number): string | undefined;
  /** Only for venues that hand out keys: opens an account, or adds a key to one. The reply is for its owner. */
  openAccount?(account: string | undefined): Promise<Readonly<Record<string, string>>>;
}
