import type { Instant } from '#libs/base/instant.js';
import type { ObservedFill, ObservedOrder } from '../protocol/cell-protocol.js';
import type { OrderFailure, OrderTerms, VenueCall } from '../rules/order.js';
import type { VenueMarket } from '../rules/markets.js';
import type { Micros } from '../rules/micros.js';
import type { OrderSide } from '../rules/amounts.js';
import type { VenueId } from '../rules/venues.js';

/** The venue could not be read just now. This proves nothing. */
export class VenueUnavailable extends Error {
  override readonly name = 'VenueUnavailable';
  /** Which one does not answer: the venue, or the signer without which it cannot be asked. */
  readonly code: 'EXCHANGE_UNAVAILABLE' | 'SIGNER_UNAVAILABLE';

  constructor(message: string, { code = 'EXCHANGE_UNAVAILABLE', ...options }: UnavailableOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

interface UnavailableOptions extends ErrorOptions {
  readonly code?: VenueUnavailable['code'];
}

/** The public data of a venue. */
export interface VenueMarkets {
  /** Looked up by the venue's short id or by any other id of the market. Undefined if the venue has no such market. */
  market(id: string): Promise<VenueMarket | undefined>;
  list(after: string | undefined, limit: number): Promise<readonly VenueMarket[]>;
  /** Best prices of one outcome, in dollars of that outcome. */
  best(market_id: string, outcome_index: number): Promise<{ readonly bid?: Micros; readonly ask?: Micros }>;
  status(): Promise<{ readonly exchange_active: boolean; readonly trading_active: boolean }>;
}

/** The outcome of one exchange with a venue, and its record for the timeline. */
export interface VenueExchange<Outcome> {
  readonly outcome: Outcome;
  readonly call: VenueCall;
}

export type SubmitOutcome =
  | {
      readonly what: 'placed';
      readonly order: ObservedOrder;
      readonly unfilled?: 'empty' | 'beyond-bound' | 'own-order';
    }
  | { readonly what: 'refused'; readonly failure: OrderFailure }
  | { readonly what: 'not-sent'; readonly failure: OrderFailure }
  | { readonly what: 'doubtful'; readonly reason: string };
export type CancelOutcome =
  | { readonly what: 'cancelled'; readonly order: ObservedOrder }
  /** The order is not open at the venue, or unknown there. Query it to learn what became of it. */
  | { readonly what: 'gone' }
  | { readonly what: 'refused' | 'doubtful' | 'not-sent'; readonly reason: string };
export type AmendOutcome =
  | { readonly what: 'amended'; readonly order: ObservedOrder }
  | { readonly what: 'refused'; readonly failure: OrderFailure }
  | { readonly what: 'doubtful' | 'not-sent'; readonly reason: string };

export interface OrderName {
  readonly venue_client_id: string;
  readonly exchange_order_id?: string;
  readonly terms: OrderTerms;
}

export interface AccountMovement {
  readonly reference: string;
  readonly kind: 'deposit' | 'withdrawal' | 'transfer-in' | 'transfer-out' | 'pairs' | 'payout' | 'shards';
  readonly asset: string;
  readonly amount: Micros;
  readonly market_id?: string;
  readonly outcome?: string;
  readonly token_id?: string;
  readonly quantity?: Micros;
  readonly shard?: number;
  readonly occurred_at: Instant;
}

export interface VenueBalances {
  readonly cash: readonly { readonly asset: string; readonly value: Micros; readonly shard?: number }[];
  readonly tokens: readonly {
    readonly market_id: string;
    readonly outcome: string;
    readonly token_id?: string;
    readonly quantity: Micros;
  }[];
}

/** One user's account at one venue. The signer signs every request. No method sends anything twice. */
export interface VenueAccount {
  /** The venue's name of the account. */
  readonly account: string;
  /** The id under which the venue will know the order. It is set before the send, and fixed for an attempt. */
  clientIdOf(order_id: string, attempt: number): string;
  /** The amounts as sent: rounded to the venue's grids, and never more than requested. */
  sentOf(terms: OrderTerms): { readonly quantity: Micros; readonly price: Micros };
  submit(terms: OrderTerms, venue_client_id: string): Promise<VenueExchange<SubmitOutcome>>;
  cancel(order: OrderName): Promise<VenueExchange<CancelOutcome>>;
  amend(order: OrderName, price: Micros): Promise<VenueExchange<AmendOutcome>>;
  /** Undefined if the venue answers that it does not know the order. Throws `VenueUnavailable` otherwise. */
  order(order: OrderName): Promise<VenueExchange<ObservedOrder | undefined>>;
  openOrders(): Promise<readonly ObservedAccountOrder[]>;
  /** All fills of the account since a moment, of any order, oldest first. */
  fills(since: Instant): Promise<readonly ObservedFill[]>;
  balances(): Promise<VenueBalances>;
  movements(since: Instant): Promise<readonly AccountMovement[]>;
  /** Venue b only: what each shard of the account's collateral has free to spend. */
  freeCollateral?(): Promise<ReadonlyMap<number, Micros>>;
  /** Venue b only: moves collateral between the account's two shards, at most once per reference. */
  moveCollateral?(from: number, to: number, amount: Micros, reference: string): Promise<void>;
  /** The id under which the venue remembers a transfer. It is made once, and is durable before the transfer is sent. */
  transferReference(transfer_id: string): string;
  /** Transfers to or from the vault's account, under an id that the venue remembers. */
  transfer(input: {
    readonly asset: string;
    readonly amount: Micros;
    readonly direction: 'to_vault' | 'from_vault';
    readonly reference: string;
  }): Promise<'done' | 'refused' | 'doubtful'>;
  /** Whether the transfer with this reference was executed. */
  transferred(reference: string): Promise<boolean>;
  /**
   * Reports changes of the account, through the venue's socket if it has one. Every fill is reported; an order change
   * may be missed.
   */
  follow(on: {
    readonly fill: (fill: ObservedFill) => void;
    readonly order: (order: ObservedAccountOrder) => void;
    readonly reconnected: () => void;
  }): { close(): void };
}

export interface ObservedAccountOrder extends ObservedOrder {
  readonly market_id: string;
  readonly outcome: string;
  readonly outcome_index: number;
  readonly token_id?: string;
  readonly side: OrderSide;
}

/** One venue, as its adapter implements it. */
export interface Venue {
  readonly id: VenueId;
  /** How long the venue may take to show an order after it was sent. */
  readonly visibilityMillis: number;
  readonly markets: VenueMarkets;
  account(user_id: string, account: string): VenueAccount;
  /**
   * Opens an account, or checks the user's own credentials. Those are stored once `take` has accepted their account.
   * Returns the venue's name of the account.
   */
  open(
    user_id: string,
    credentials?: { readonly key_id: string; readonly private_key_pem: string },
    take?: (account: string) => Promise<boolean>,
  ): Promise<string>;
}
