import { randomUUID } from 'node:crypto';
import type { TraderRequest } from '#libs/execution/protocol/cell-protocol.js';
import { ONE } from '#libs/execution/rules/micros.js';
import type { OrderTerms } from '#libs/execution/rules/order.js';

type SubmitRequest = Extract<TraderRequest, { op: 'submit' }>;
export type WantedTerms = Omit<OrderTerms, 'order_id'>;

/** A limit buy of ten at 0.40 on venue b, with changes. */
export function wantedTerms(user_id: string, different: Partial<WantedTerms> = {}): WantedTerms {
  const quantity = different.quantity ?? 10n * ONE;
  const price = different.price ?? 400_000n;
  return {
    ...{ user_id, origin: 'sotto', client_order_id: randomUUID(), venue: 'venue_b', market_id: 'RAIN' },
    ...{ outcome: 'Yes', outcome_index: 0, side: 'buy', kind: 'limit', time_in_force: 'GTC' },
    ...{ post_only: false, quantity, price, requested: { quantity, price }, bound: price, max_retries: 0 },
    ...{ collateral: 'skip', shard_funding: true, source: 'api', channel: 'REST', content: 'the same' },
    market: { tick_size: 10_000n, min_size: ONE, closes_at: '2027-01-01T00:00:00.000000000Z' },
    ...different,
  };
}

export function submission(user_id: string, different: Partial<WantedTerms> = {}): SubmitRequest {
  return {
    ...{ op: 'submit', user_id, request_id: randomUUID(), market_status: 'open' },
    terms: wantedTerms(user_id, different),
  };
}
