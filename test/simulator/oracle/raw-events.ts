import type { RawDisclosure, RawNotes, RawRefusal } from './raw-parties.js';

/** The journal's events, as read by code that knows nothing but their text. */
export interface RawHold {
  readonly venue: string;
  readonly resource: string;
  readonly asset: string;
  readonly amount: number;
}

export interface RawQuote extends RawNotes {
  readonly quote_id: string;
  readonly maker: string;
  readonly revision: number;
  readonly price_atoms: number;
  readonly quantity_atoms: number;
  readonly min_quantity_atoms: number;
  readonly expires_at?: string;
  readonly hold: readonly RawHold[];
}

export interface RawAward {
  readonly award_id: string;
  readonly quote_id: string;
  readonly maker: string;
  readonly price_atoms: number;
  readonly quantity_atoms: number;
  readonly maker_hold: readonly RawHold[];
  readonly originator_hold: readonly RawHold[];
}

export interface RawRoute {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
  readonly title: string;
}

export interface RawTerms extends RawDisclosure {
  readonly auction_id: string;
  readonly side: 'BUY' | 'SELL';
  readonly quantity_atoms: number;
  readonly routes: readonly RawRoute[];
  readonly grid: {
    readonly price_tick_atoms: number;
    readonly min_price_atoms: number;
    readonly max_price_atoms: number;
    readonly quantity_step_atoms: number;
  };
  readonly limit_price_atoms?: number;
  readonly min_fill_quantity_atoms: number;
  readonly allocation: 'SINGLE_WINNER' | 'SPLIT';
  readonly max_winners: number;
  readonly opened_at: string;
  readonly closes_at: string;
  readonly quote_revision_policy: 'FREE' | 'IMPROVE_ONLY' | 'FINAL';
  readonly execution_deadline_ms: number;
}

export interface RawMark {
  readonly account_id: string;
  readonly operation: string;
  readonly key: string;
  readonly content: string;
}

/** All fields that the data of any event type may have; the type decides which are present. */
export interface RawData extends RawRefusal {
  readonly terms?: RawTerms;
  readonly hold?: readonly RawHold[];
  readonly quote?: RawQuote;
  readonly connection_id?: string;
  readonly keeps_priority?: boolean;
  readonly quote_id?: string;
  readonly maker?: string;
  readonly by?: string;
  readonly error?: string;
  readonly awards?: readonly RawAward[];
  readonly execution_deadline?: string;
  readonly reason?: string;
  readonly award_id?: string;
  readonly attempt?: number;
  readonly settlement?: RawSettlement;
  readonly status?: string;
  readonly account_id?: string;
  readonly withdrawn?: readonly string[];
  readonly not_withdrawable?: readonly RawNotWithdrawable[];
  readonly grace_ms?: number;
}

/** A quote that a withdraw-all could not take back. */
export interface RawNotWithdrawable {
  readonly quote_id: string;
  readonly error: string;
}

export interface RawSettlement {
  readonly venue: string;
  readonly asset: string;
  readonly delivered_atoms: number;
}

export interface RawEvent {
  readonly type: string;
  readonly auction_id?: string;
  readonly at: string;
  readonly command?: RawMark;
  readonly data: RawData;
}

export interface PlacedEvent {
  readonly shard: number;
  readonly sequence: number;
  readonly event: RawEvent;
}
