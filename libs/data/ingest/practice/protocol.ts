import type {
  BookLevel,
  ListingStatus,
  MarketEvent,
  ResolutionEvent,
  TradeEvent,
} from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';
import type { BodyReading } from './reading.js';

/** A market as its venue shows it at one moment. */
export interface SeenMarket {
  readonly terms: Omit<
    MarketEvent,
    'type' | 'provider' | 'source_id' | 'source_ts' | 'received_at' | 'status'
  >;
  readonly status: ListingStatus;
  /** Once the payouts are known. */
  readonly resolution?: Pick<ResolutionEvent, 'status' | 'payouts' | 'disputed'>;
  /** When this state began, if the venue tells: microseconds. */
  readonly changed_at?: number;
  readonly resolved_at?: number;
  /** Of the first outcome; zero if it never traded. */
  readonly last_price?: number;
  /** Millionths of a contract since listing. */
  readonly volume?: bigint;
}

export interface BookName {
  readonly market_id: string;
  readonly outcome_index: number;
}

export interface SeenBook extends BookName {
  /** Microseconds; absent if the venue gives none. */
  readonly at?: number;
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}

export interface BookChange extends BookName {
  readonly at?: number;
  readonly side: 'bids' | 'asks';
  readonly price: number;
  readonly delta: bigint;
}

/** One piece of news from a socket frame. */
export type FrameNews =
  /** A trade, complete, or only the news that there is one. */
  | { readonly what: 'trade'; readonly trade?: TradeEvent }
  | { readonly what: 'market' }
  | { readonly what: 'book'; readonly book: SeenBook }
  | { readonly what: 'change'; readonly change: BookChange }
  /** Frames are missing, or the venue has ended a subscription. */
  | { readonly what: 'lost'; readonly reason: string };

export interface SocketAddress {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One connection to a venue's socket. */
export interface VenueConnection {
  /** The messages to send to follow these markets too. */
  follow(marketIds: readonly string[]): readonly string[];
  read(frame: string): BodyReading<readonly FrameNews[]>;
}

export interface SpanOfTrades {
  /** Microseconds, both ends included. */
  readonly from: number;
  readonly to?: number;
}

/** The public API of a venue, in our own types. Each reading is one response body. */
export interface VenueProtocol {
  readonly provider: Provider;
  /** How many markets' books one request reads. */
  readonly booksAtOnce: number;
  /** Sent regularly if the venue wants a ping message of its own. */
  readonly ping?: string;
  /** With `recent`, markets that ended long ago may be left out. */
  markets(which: 'all' | 'recent', stop: AbortSignal): AsyncIterable<BodyReading<readonly SeenMarket[]>>;
  trades(span: SpanOfTrades, stop: AbortSignal): AsyncIterable<BodyReading<readonly TradeEvent[]>>;
  books(marketIds: readonly string[], stop: AbortSignal): Promise<BodyReading<readonly SeenBook[]>>;
  /** Undefined if the venue has no socket for us. */
  socketAddress(): Promise<SocketAddress | undefined>;
  connection(): VenueConnection;
}
