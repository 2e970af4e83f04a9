import type { Pool } from 'pg';
import type { Holdings } from '../../rules/holdings.js';
import type { OrderState } from '../../rules/order.js';
import { readHoldings } from '../stored-holdings.js';
import { readOrderOfList } from '../stored-order.js';

const LIVE = ['queued', 'submitting', 'pending_venue', 'open', 'partially_filled', 'cancel_requested'];

export const HOLDINGS_OF_USER = `select part, key, state from execution.holdings where user_id = $1`;
export const LIVE_ORDERS = `
  select o.state from unnest($2::text[]) as live (status)
  join execution.orders o on o.user_id = $1 and o.status = live.status`;

/** A user's holdings and live orders as projected, for when the user's cell does not answer in time. */
export interface CentralHoldings {
  readonly holdings: Holdings;
  readonly orders: readonly OrderState[];
}

export class CentralExposure {
  constructor(private readonly pool: Pool) {}

  async of(user: string): Promise<CentralHoldings> {
    const [held, live] = await Promise.all([
      this.pool.query<{ part: string; key: string; state: string }>({
        name: 'execution-holdings',
        text: HOLDINGS_OF_USER,
        values: [user],
      }),
      this.pool.query<{ state: string }>({
        name: 'execution-live-orders',
        text: LIVE_ORDERS,
        values: [user, LIVE],
      }),
    ]);
    const orders = live.rows.map(({ state }) => readOrderOfList(state));
    return { holdings: readHoldings(held.rows), orders };
  }
}
