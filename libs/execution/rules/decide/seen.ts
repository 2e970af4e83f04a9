import type { Micros } from '../micros.js';
import type { OrderFailure, OrderFill } from '../order.js';

/** An order as the venue shows it. */
export interface SeenOrder {
  readonly exchange_order_id: string;
  readonly status: 'resting' | 'filled' | 'cancelled' | 'expired' | 'rejected';
  readonly ended_by?: 'market-closed' | 'expiry' | 'self-trade' | 'venue' | 'user';
  readonly price: Micros;
  readonly filled: Micros;
}

export interface SeenFill {
  readonly exchange_order_id: string;
  readonly fill: OrderFill;
}

export type Unfilled = 'empty' | 'beyond-bound' | 'own-order';

/** The outcome of a task at the venue. `told` means that separate requests carried the result. */
export type TaskOutcome =
  | {
      readonly what: 'placed';
      readonly order: SeenOrder;
      readonly fills: readonly SeenFill[];
      readonly unfilled?: Unfilled;
    }
  | { readonly what: 'refused' | 'not-sent'; readonly failure: OrderFailure }
  | { readonly what: 'returned' }
  | { readonly what: 'doubtful'; readonly reason: string }
  | { readonly what: 'absent' }
  | { readonly what: 'amended'; readonly price: Micros; readonly order?: SeenOrder }
  | { readonly what: 'cancelled'; readonly order: SeenOrder; readonly fills: readonly SeenFill[] }
  | { readonly what: 'told' };

export type TaskKind = 'submit' | 'cancel' | 'amend' | 'query';
