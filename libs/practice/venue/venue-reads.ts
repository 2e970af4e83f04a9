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
  /** When its status last became another. */
  readonly changed_at: Millis;
}

export interface VenuePosition {
  readonly market_id: string;
  readonly outcome: OutcomeIndex;
  readonly holding: Holding;
}

/** What a venue is now. Lists are oldest first; accounts are the engine's own (on b one a shard). */
export interface VenueReads {
  market(marketId: string): ListedMarket | undefined;
  markets(): Iterable<ListedMarket>;
  levels(marketId: string, outcome: OutcomeIndex, side: BookSide, of?: 'market' | 'outcome'): Level[];
  /** All trades of a market, those of bots included. */
  trades(marketId: string): readonly VenueTrade[];
  tradesOfAll(): readonly VenueTrade[];
  order(orderId: string): VenueOrder | undefined;
  orderByClientId(account: string, clientId: string): VenueOrder | undefined;
  ordersOf(account: string): readonly VenueOrder[];
  /** All orders a market ever accepted but those of the bots. */
  ordersIn(marketId: string): readonly VenueOrder[];
  fillsOf(account: string): readonly VenueFill[];
  movementsOf(account: string): readonly Movement[];
  hasAccount(account: string): boolean;
  /** Of an account as it was opened: name and value of each key. */
  keysOf(account: string): Readonly<Record<string, string>>;
  accountWithKey(name: string): string | undefined;
  cash(account: string): CashBalance;
  /** What an order could use. Fees may have taken it below nothing. */
  freeCash(account: string): Cash;
  holding(account: string, marketId: string, outcome: OutcomeIndex): Holding;
  positionsOf(account: string): readonly VenuePosition[];
  freeShares(account: string, marketId: string, outcome: OutcomeIndex): SizeMicros;
  isDone(once: string): boolean;
}

/** One venue as shells and the admin surface use it. */
export interface PracticeVenuePort {
  readonly exchange_id: PracticeVenueId;
  readonly reads: VenueReads;
  /** Does it, writes it down and resolves once that is on disk. A refusal changes nothing. Bots and what is due by the clock come first. */
  ask(command: VenueCommand): Promise<VenueReply>;
  /** Resolves once all that the state shows now is on disk: a read answers after this. */
  durable(): Promise<void>;
  /** Told in order, each once it is on disk. Undoes itself by what it gives back. */
  follow(listener: (event: VenueEvent) => void): () => void;
  now(): Millis;
  newId(): string;
}
