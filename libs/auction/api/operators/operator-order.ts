import type { OperatorOrder } from '../../protocol/protocol.js';

interface Ordering {
  readonly principal: { readonly account_id: string };
  readonly requestId: string;
  readonly body: { readonly reason?: string };
}

/** Who gives an order and why, as the token and the body say. */
export function orderOf({ principal, requestId, body: { reason } }: Ordering): OperatorOrder {
  const order = { operator: principal.account_id, request_id: requestId };
  return reason === undefined ? order : { ...order, reason };
}
