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
  /** Who is away: the venue, or the signer without whom it cannot be asked. */
  readonly code: 'EXCHANGE_UNAVAILABLE' | 'SIGNER_UNAVAILABLE';

  constructor(message: string, { code = 'EXCHANGE_UNAVAILABLE', ...options }: UnavailableOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

interface UnavailableOptions extends ErrorOptions {
  readonly code?: VenueUnavailable['code'];
}

/** What anyone may read of a venue. */
export interface VenueMarkets {
  /** By the venue's own short id, or any other id by which it names markets. Undefined: the venue says there is none. */
  market(id: string): Promise<VenueMarket | undefined>;
  list(after: string | undefined, limit: number): Promise<readonly VenueMarket[]>;
  /** Best prices of one outcome in its own dollars. */
  best(market_id: string, outcome_index: number): Promise<{ readonly bid?: Micros; readonly ask?: Micros }>;
  status(): Promise<{ readonly exchange_active: boolean; readonly trading_active: boolean }>;
}

/** What came of one exchange with a venue, and the exchange as it is recorded. */
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
  /** The venue no longer has it open, or does not know it: ask what became of it. */
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

/** One user's account at one venue. Every request is signed by the signer. Nothing here sends anything twice. */
export interface VenueAccount {
  /** The id by which the venue will know the order: given before it is sent, the same for the same attempt. */
  clientIdOf(order_id: string, attempt: number): string;
  /** As it goes out: cut to the venue's grids, never more than was asked. */
  sentOf(terms: OrderTerms): { readonly quantity: Micros; readonly price: Micros };
  submit(terms: OrderTerms, venue_client_id: string): Promise<VenueExchange<SubmitOutcome>>;
  cancel(order: OrderName): Promise<VenueExchange<CancelOutcome>>;
  amend(order: OrderName, price: Micros): Promise<VenueExchange<AmendOutcome>>;
  /** By the order's own id. Undefined: the venue answers that it does not know it. Fails with VenueUnavailable. */
  order(order: OrderName): Promise<VenueExchange<ObservedOrder | undefined>>;
  openOrders(): Promise<readonly ObservedAccountOrder[]>;
  /** All fills of the account from a moment on, of whatever order, oldest first. */
  fills(since: Instant): Promise<readonly ObservedFill[]>;
  balances(): Promise<VenueBalances>;
  movements(since: Instant): Promise<readonly AccountMovement[]>;
  /** On venue b: what each shard of the account's collateral has free to pay with. */
  freeCollateral?(): Promise<ReadonlyMap<number, Micros>>;
  /** On venue b, between the account's two shards of collateral; done at most once under a reference. */
  moveCollateral?(from: number, to: number, amount: Micros, reference: string): Promise<void>;
  /** The id by which the venue will remember a transfer: made once, and durable before the transfer is sent under it. */
  transferReference(transfer_id: string): string;
  /** To or from the vault's account, under an id that the venue remembers. */
  transfer(input: {
    readonly asset: string;
    readonly amount: Micros;
    readonly direction: 'to_vault' | 'from_vault';
    readonly reference: string;
  }): Promise<'done' | 'refused' | 'doubtful'>;
  /** Whether a transfer under this id has been done. */
  transferred(reference: string): Promise<boolean>;
  /** Says that something has changed, by the venue's own socket where it has one. Fills are complete; orders may be missed. */
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

/** One venue, as its adapter opens it. */
export interface Venue {
  readonly id: VenueId;
  /** How long after a send the venue may not show it yet. */
  readonly visibilityMillis: number;
  readonly markets: VenueMarkets;
  account(user_id: string, account: string): VenueAccount;
  /**
   * Opens an account, or checks credentials that the user has brought: they are kept if they may open the account that is theirs.
   * Resolves with the venue's name of it.
   */
  open(
    user_id: string,
    credentials?: { readonly key_id: string; readonly private_key_pem: string },
    mayTake?: (account: string) => Promise<boolean>,
  ): Promise<string>;
}
