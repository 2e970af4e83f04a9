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
  /** Once they are known. */
  readonly resolution?: Pick<ResolutionEvent, 'status' | 'payouts' | 'disputed'>;
  /** When this state began, as far as the venue says: microseconds. */
  readonly changed_at?: number;
  readonly resolved_at?: number;
  /** Of the first outcome; zero where it never traded. */
  readonly last_price?: number;
  /** Millionths of a contract since listing. */
  readonly volume?: bigint;
}

export interface BookName {
  readonly market_id: string;
  readonly outcome_index: number;
}

export interface SeenBook extends BookName {
  /** Microseconds; absent where the venue gives none. */
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

/** What one frame of a socket says. */
export type FrameNews =
  /** A trade that reads as it does elsewhere, or only that there is one. */
  | { readonly what: 'trade'; readonly trade?: TradeEvent }
  | { readonly what: 'market' }
  | { readonly what: 'book'; readonly book: SeenBook }
  | { readonly what: 'change'; readonly change: BookChange }
  /** Frames are missing, or the venue has ended what was asked of it. */
  | { readonly what: 'lost'; readonly reason: string };

export interface SocketAddress {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One connection to a venue's socket. */
export interface VenueConnection {
  /** What is sent to follow these markets too. */
  follow(marketIds: readonly string[]): readonly string[];
  read(frame: string): BodyReading<readonly FrameNews[]>;
}

export interface SpanOfTrades {
  /** Microseconds, both ends included. */
  readonly from: number;
  readonly to?: number;
}

/** The public interface of a venue, in our words. Each reading is one body of it. */
export interface VenueProtocol {
  readonly provider: Provider;
  /** How many markets' books one call reads. */
  readonly booksAtOnce: number;
  /** Sent now and then where the venue wants a message of its own. */
  readonly ping?: string;
  /** Those that ended long ago are left out at times, unless all are asked for. */
  markets(which: 'all' | 'recent', stop: AbortSignal): AsyncIterable<BodyReading<readonly SeenMarket[]>>;
  trades(span: SpanOfTrades, stop: AbortSignal): AsyncIterable<BodyReading<readonly TradeEvent[]>>;
  books(marketIds: readonly string[], stop: AbortSignal): Promise<BodyReading<readonly SeenBook[]>>;
  /** Undefined where the venue's socket is not open to us. */
  socketAddress(): Promise<SocketAddress | undefined>;
  connection(): VenueConnection;
}
