import type { Cash, CashBalance, Holding } from '../matching/accounts.js';
import type { MarketStatus } from '../matching/exchange.js';
import type { BookSide, Level, OutcomeIndex, PriceMicros, SizeMicros } from '../matching/order-book.js';
import type {
  MarketTerms,
  Millis,
  Movement,
  PracticeVenueId,
  VenueCommand,
  VenueEvent,
  VenueFill,
  VenueOrder,
  VenueReply,
  VenueTrade,
} from './terms.js';

export interface ListedMarket {
  readonly terms: MarketTerms;
  readonly status: MarketStatus;
  readonly payouts: readonly [PriceMicros, PriceMicros] | undefined;
  readonly resolved_at: Millis | undefined;
  /** When its status last changed. */
  readonly changed_at: Millis;
}

export interface VenuePosition {
  readonly market_id: string;
  readonly outcome: OutcomeIndex;
  readonly holding: Holding;
}

/** The present state of a venue. Lists are oldest first. Accounts are the engine's (venue b has one per shard). */
export interface VenueReads {
  market(marketId: string): ListedMarket | undefined;
  markets(): Iterable<ListedMarket>;
  levels(marketId: string, outcome: OutcomeIndex, side: BookSide, of?: 'market' | 'outcome'): Level[];
  /** All trades of a market, including those of bots. */
  trades(marketId: string): readonly VenueTrade[];
  tradesOfAll(): readonly VenueTrade[];
  order(orderId: string): VenueOrder | undefined;
  orderByClientId(account: string, clientId: string): VenueOrder | undefined;
  ordersOf(account: string): readonly VenueOrder[];
  /** All orders that a market ever accepted, except those of bots. */
  ordersIn(marketId: string): readonly VenueOrder[];
  fillsOf(account: string): readonly VenueFill[];
  movementsOf(account: string): readonly Movement[];
  hasAccount(account: string): boolean;
  /** The keys of an account, by name. */
  keysOf(account: string): Readonly<Record<string, string>>;
  accountWithKey(name: string): string | undefined;
  cash(account: string): CashBalance;
  /** Cash that an order could use. Fees may have made it negative. */
  freeCash(account: string): Cash;
  holding(account: string, marketId: string, outcome: OutcomeIndex): Holding;
  positionsOf(account: string): readonly VenuePosition[];
  freeShares(account: string, marketId: string, outcome: OutcomeIndex): SizeMicros;
  isDone(once: string): boolean;
}

/** One venue, as shells and the admin interface use it. */
export interface PracticeVenuePort {
  readonly exchange_id: PracticeVenueId;
  readonly reads: VenueReads;
  /**
   * Executes and logs the command. Resolves once it is on disk. A refusal changes nothing. Due expiries and pending
   * bot quotes go first.
   */
  ask(command: VenueCommand): Promise<VenueReply>;
  /** Resolves once everything that the state shows is on disk. Reads wait for this. */
  durable(): Promise<void>;
  /** Sends each event in order once it is on disk. Returns the function that stops it. */
  follow(listener: (event: VenueEvent) => void): () => void;
  now(): Millis;
  newId(): string;
}
