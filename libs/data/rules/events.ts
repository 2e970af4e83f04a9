import type { Provider } from './providers.js';

/**
 * Events of all sources in one form. Prices are whole micro-dollars of one contract (0 to 1,000,000), sizes millionths of a
 * contract, times microseconds since 1970 UTC. Sums of sizes and cash can exceed the safe integers, so these are bigints.
 */
export type MarketDataEvent =
  | MarketEvent
  | StatusEvent
  | TradeEvent
  | TradeBustEvent
  | BookEvent
  | LedgerEvent
  | ResolutionEvent
  | ScoreEvent
  | TickEvent;

export type MarketDataType = MarketDataEvent['type'];

/** `source_id` is unique for each provider (or label) and type. These three are the identity of an event. */
interface SourcedEvent {
  readonly source_id: string;
  readonly source_ts: number;
  readonly received_at: number;
}

interface OfProvider extends SourcedEvent {
  readonly provider: Provider;
}

interface OfMarket extends OfProvider {
  readonly market_id: string;
}

export const MARKET_STATUSES = ['open', 'active', 'closed', 'resolved', 'settled'] as const;

export type ListingStatus = (typeof MARKET_STATUSES)[number];

export interface ListedOutcome {
  readonly label: string;
  readonly token_id?: string;
}

export interface GridBand {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

export interface ContractTerms {
  readonly tick_size?: number;
  readonly min_price?: number;
  readonly max_price?: number;
  readonly lot_size?: bigint;
  readonly quote_currency?: string;
  readonly bands?: readonly GridBand[];
}

/** The whole state of a market. The newest `source_ts` wins, but the first event that is read fixes the outcome indices. */
export interface MarketEvent extends OfMarket {
  readonly type: 'MARKET';
  readonly name: string;
  readonly outcomes: readonly ListedOutcome[];
  readonly status?: ListingStatus;
  readonly condition_id?: string;
  readonly event_id?: string;
  readonly event_name?: string;
  readonly event_url?: string;
  readonly series_key?: string;
  readonly series_title?: string;
  readonly ticker?: string;
  readonly slug?: string;
  readonly description?: string;
  readonly category?: string;
  readonly subcategory?: string;
  readonly tags?: readonly { readonly id: string; readonly name: string }[];
  readonly listed_at?: number;
  readonly expires_at?: number;
  readonly settlement_ts?: number;
  readonly image?: string;
  readonly icon?: string;
  readonly banner?: string;
  readonly external_url?: string;
  readonly ctf_neg_risk?: boolean;
  readonly raw?: JsonMembers;
  readonly extra?: JsonMembers;
  readonly resolution_rules?: {
    readonly primary: string | null;
    readonly secondary: string | null;
    readonly source: string | null;
  };
  readonly contract?: ContractTerms;
  /** Kept as received, in the form of the recorded source. */
  readonly crypto?: JsonMembers;
  readonly sports?: JsonMembers;
  readonly combo?: JsonMembers;
  readonly terms?: JsonMembers;
}

export type JsonMembers = Readonly<Record<string, unknown>>;

export interface StatusEvent extends OfMarket {
  readonly type: 'STATUS';
  readonly status: ListingStatus;
}

/** `seq` is the venue's number, without gaps in a market. Without it, trades are ordered by a number made from `source_id`. */
export interface TradeEvent extends OfMarket {
  readonly type: 'TRADE';
  readonly outcome_index: number;
  readonly price: number;
  readonly size: bigint;
  /** The side of the taker. */
  readonly side?: 'buy' | 'sell';
  readonly seq?: bigint;
  readonly maker?: string;
  readonly taker?: string;
  readonly tx_hash?: string;
}

export interface TradeBustEvent extends OfProvider {
  readonly type: 'TRADE_BUST';
  readonly trade_source_id: string;
}

export interface BookLevel {
  readonly price: number;
  readonly size: bigint;
}

/**
 * Not journaled: only the newest state of each book is kept. A snapshot replaces the book, other events change it; size 0 removes a
 * level.
 */
export interface BookEvent extends OfMarket {
  readonly type: 'BOOK';
  readonly outcome_index: number;
  readonly sequence: bigint;
  readonly snapshot: boolean;
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}

export const LEDGER_KINDS = [
  'BUY',
  'SELL',
  'SPLIT',
  'MERGE',
  'REDEEM',
  'TRANSFER_IN',
  'TRANSFER_OUT',
] as const;

export interface LedgerEvent extends OfMarket {
  readonly type: 'LEDGER';
  readonly wallet: string;
  readonly kind: (typeof LEDGER_KINDS)[number];
  readonly outcome_index?: number;
  readonly price?: number;
  readonly size: bigint;
  readonly fee?: bigint;
  readonly seq?: bigint;
  readonly tx_hash?: string;
}

export interface ResolutionEvent extends OfMarket {
  readonly type: 'RESOLUTION';
  readonly status: 'resolved' | 'settled';
  /** One for each outcome in micro-dollars. They add up to 1,000,000. */
  readonly payouts: readonly number[];
  readonly source_url?: string;
  readonly disputed?: boolean;
}

/** For games and ticks, only identity and order are read; the other members are kept as received. */
export interface ScoreEvent extends SourcedEvent {
  readonly type: 'SCORE';
  readonly label: string;
  readonly game_id: string;
  readonly content: JsonMembers;
}

export interface TickEvent extends SourcedEvent {
  readonly type: 'TICK';
  readonly label: string;
  readonly source: 'exchange_spot' | 'oracle_stream' | 'reference';
  readonly class: 'crypto' | 'equity' | 'forex' | 'commodity' | 'perpetual';
  readonly symbol: string;
  /** A price of any size, as its decimal text. */
  readonly price: string;
  readonly content: JsonMembers;
}
