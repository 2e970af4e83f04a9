import type { FillListQuery } from '../projections/reader/fill-reader.js';
import type { LedgerBalance, LedgerQuery, ReserveRow } from '../projections/reader/ledger-reader.js';
import type { OrderListQuery } from '../projections/reader/order-reader.js';
import type { Holdings } from '../rules/holdings.js';
import type { OrderState } from '../rules/order.js';

export interface LedgerReads {
  entries(
    user: string,
    query: LedgerQuery,
  ): Promise<{ readonly entries: readonly object[]; readonly nextAfter?: string } | 'no such entry'>;
  balances(user: string): Promise<readonly LedgerBalance[]>;
  /** Reserves of the whole vault. */
  reserves(): Promise<readonly ReserveRow[]>;
}

/** Reads from the projections: lists, and orders that a cell no longer has in memory. */
export interface ProjectedReads {
  readonly orders: {
    list(
      user: string,
      query: OrderListQuery,
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
      query: FillListQuery,
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
