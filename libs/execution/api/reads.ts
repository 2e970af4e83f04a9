import type { Instant } from '#libs/base/instant.js';
import type { OrderSide } from '../rules/amounts.js';
import type { CustodyDomain, LedgerBalance } from '../projections/reader/ledger-reader.js';
import type { Holdings } from '../rules/holdings.js';
import type { OrderSource, OrderState, OrderStatus } from '../rules/order.js';
import type { VenueId } from '../rules/venues.js';

/** All that a list of orders can be asked. */
export interface OrderSelection {
  readonly limit: number;
  readonly offset: number;
  readonly before_id?: string;
  readonly exchange_id?: VenueId;
  readonly market_id?: string;
  readonly token_id?: string;
  /** Any of them. */
  readonly statuses?: readonly OrderStatus[];
  readonly side?: OrderSide;
  readonly client_order_id?: string;
  readonly bot_id?: string;
  readonly source?: OrderSource;
  readonly origin?: 'sotto' | 'external';
  readonly submitted_after?: Instant;
  readonly submitted_before?: Instant;
  readonly updated_after?: Instant;
}

export interface FillSelection {
  readonly order_id?: string;
  readonly exchange_id?: VenueId;
  readonly market_id?: string;
  readonly after?: string;
  readonly limit: number;
}

export interface LedgerSelection {
  readonly asset?: string;
  readonly domain?: CustodyDomain;
  readonly after?: string;
  readonly limit: number;
}

export interface LedgerReads {
  entries(
    user: string,
    query: LedgerSelection,
  ): Promise<{ readonly entries: readonly object[]; readonly nextAfter?: string } | 'no such entry'>;
  balances(user: string): Promise<readonly LedgerBalance[]>;
  /** Of the whole vault. */
  reserves(): Promise<
    readonly {
      readonly exchangeId: string;
      readonly asset: string;
      readonly owed: string;
      readonly issued: string;
      readonly inTransit: string;
    }[]
  >;
}

/** What is read of the projections: lists, and what a cell has no longer in memory. */
export interface ProjectedReads {
  readonly orders: {
    list(
      user: string,
      query: OrderSelection,
    ): Promise<
      | {
          readonly orders: readonly Record<string, unknown>[];
          readonly has_more: boolean;
          readonly next_before_id?: string;
        }
      | 'no such order'
    >;
    find(user: string, orderId: string): Promise<OrderState | undefined>;
  };
  readonly fills: {
    page(
      user: string,
      query: FillSelection,
    ): Promise<{ readonly fills: readonly unknown[]; readonly next_after?: string } | 'no such fill'>;
    ofOrder(user: string, orderId: string): Promise<readonly unknown[]>;
  };
  readonly events: {
    timeline(
      user: string,
      orderId: string,
      afterSeq: number,
      limit: number,
    ): Promise<Record<string, unknown> | undefined>;
  };
  readonly ledger: LedgerReads;
  readonly exposure: {
    of(user: string): Promise<{ readonly holdings: Holdings; readonly orders: readonly OrderState[] }>;
  };
}
