import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { Hold, Terms } from './terms.js';

/** Identifies a command by account, operation and key, so that the owner recognizes a repeat of it. */
export interface CommandMark {
  readonly account_id: string;
  readonly operation: Operation;
  readonly key: string;
  /** Hash of the content without the key; equal content, equal hash. */
  readonly content: string;
}

export type Operation = 'CREATE' | 'CANCEL' | 'SUBMIT' | 'REVISE' | 'WITHDRAW' | 'WITHDRAW_ALL';
export type QuoteOperation = 'SUBMIT' | 'REVISE' | 'WITHDRAW';
export type WithdrawnBy = 'MARKET_MAKER' | 'DISCONNECT' | 'PROTECTION' | 'OPERATOR';
export type CancelledBy = 'ORIGINATOR' | 'OPERATOR' | 'SYSTEM';
export type NotAwardedReason = 'NO_QUOTES' | 'RESERVE_NOT_MET' | 'MINIMUM_NOT_MET';
export type CompletedStatus =
  'CANCELLED' | 'VOIDED' | 'NO_AWARD' | 'SETTLED' | 'PARTIALLY_SETTLED' | 'EXECUTION_FAILED';

/** The complete terms of a quote after the event. No other event is needed to show the quote. */
export interface QuoteTerms {
  readonly quote_id: string;
  readonly maker: string;
  readonly revision: number;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly min_quantity_atoms: Atoms;
  readonly expires_at?: Instant;
  readonly client_reference?: string;
  readonly submitted_at: Instant;
  /** What is set aside for the quote from this event on. */
  readonly hold: readonly Hold[];
}

export interface AwardTerms {
  readonly award_id: string;
  readonly quote_id: string;
  readonly maker: string;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  /** What stays set aside for the award. The remainder of the quote's hold is released. */
  readonly maker_hold: readonly Hold[];
  readonly originator_hold: readonly Hold[];
}

interface Body<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
}

export type AuctionEventBody =
  | Body<'AUCTION_OPENED', { readonly terms: Terms; readonly hold: readonly Hold[] }>
  | Body<'QUOTE_SUBMITTED', { readonly quote: QuoteTerms; readonly connection_id?: string }>
  | Body<'QUOTE_REVISED', { readonly quote: QuoteTerms; readonly keeps_priority: boolean }>
  | Body<'QUOTE_WITHDRAWN', { readonly quote_id: string; readonly maker: string; readonly by: WithdrawnBy }>
  | Body<'QUOTE_EXPIRED', { readonly quote_id: string; readonly maker: string }>
  | Body<
      'QUOTE_REJECTED',
      {
        readonly maker: string;
        readonly operation: QuoteOperation;
        readonly error: string;
        readonly message: string;
        readonly quote_id?: string;
      }
    >
  | Body<'CANCEL_REJECTED', { readonly error: string; readonly message: string }>
  | Body<'AUCTION_CANCELLED', { readonly by: CancelledBy; readonly reason?: string }>
  /** The operator's account is for the journal only. No view, timeline or audit shows it. */
  | Body<'AUCTION_VOIDED', { readonly by: CancelledBy; readonly reason?: string; readonly operator?: string }>
  | Body<'AUCTION_CLOSED', Record<string, never>>
  | Body<'AUCTION_AWARDED', { readonly awards: readonly AwardTerms[]; readonly execution_deadline: Instant }>
  | Body<'AUCTION_NOT_AWARDED', { readonly reason: NotAwardedReason }>
  | Body<'EXECUTION_SUBMITTED', ExecutionStep>
  | Body<'EXECUTION_RETRYING', ExecutionStep>
  | Body<'EXECUTION_CONFIRMED', ConfirmedStep>
  | Body<'EXECUTION_FAILED', ExecutionStep>
  | Body<'AUCTION_COMPLETED', { readonly status: CompletedStatus }>;

export interface ExecutionStep {
  readonly award_id: string;
  readonly attempt: number;
  readonly reason?: string;
}

/** What the ledger must know to settle an award again in exactly the same way. */
export interface AwardSettlement {
  readonly venue: string;
  /** Names the settled route within the venue, as in a hold: contract and outcome. */
  readonly asset: string;
  /** How much came from the seller's own tokens; the remainder was issued. */
  readonly delivered_atoms: Atoms;
}

/** For the journal only, like the operator's name. A replay bundle omits the settlement. */
export interface ConfirmedStep extends ExecutionStep {
  readonly settlement?: AwardSettlement;
}

/** Events of a shard that belong to no auction. They answer repeated commands and record what operators did. */
export type ShardEventBody =
  | Body<
      'CREATE_REJECTED',
      {
        readonly auction_id: string;
        readonly account_id: string;
        readonly error: string;
        readonly message: string;
      }
    >
  | Body<
      'ALL_WITHDRAWN',
      {
        readonly account_id: string;
        readonly withdrawn: readonly string[];
        readonly not_withdrawable: readonly { readonly quote_id: string; readonly error: string }[];
      }
    >
  /** When this connection is lost, its quotes are withdrawn after `grace_ms`. Without `grace_ms` they stay. */
  | Body<
      'CONNECTION_NOTED',
      { readonly connection_id: string; readonly account_id: string; readonly grace_ms?: number }
    >
  | Body<'SHARD_DRAINED' | 'SHARD_RESUMED', { readonly operator: string; readonly reason?: string }>;

export type EventType = AuctionEventBody['type'] | ShardEventBody['type'];

/** The envelope of every event in the journal. `version` is that of the event's type: see event-versions. */
interface Recorded {
  readonly version: number;
  readonly at: Instant;
  readonly request_id?: string;
  readonly command?: CommandMark;
}
export type AuctionEvent = AuctionEventBody & Recorded & { readonly auction_id: string };
export type ShardEvent = ShardEventBody & Recorded;
export type DomainEvent = AuctionEvent | ShardEvent;

/** An event with its position in its shard's journal. Positions are unique and give the total order. */
export interface Placed<E extends DomainEvent = DomainEvent> {
  readonly position: number;
  readonly event: E;
}
