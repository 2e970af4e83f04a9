import type { ExecutorTask } from '../protocol/cell-protocol.js';
import { isUnplacedYet } from '../rules/decide/settle.js';
import { isTerminal, type OrderState } from '../rules/order.js';
import { orderOf } from '../rules/user.js';
import type { VenueId } from '../rules/venues.js';
import type { UserEntry } from './user-entry.js';

export type OrderWork = 'submit' | 'cancel' | 'amend' | 'query';

/** Work to be done at a venue. It is kept until it is done. */
export type Work =
  | { readonly kind: OrderWork; readonly order_id: string }
  | { readonly kind: 'reconcile' }
  | { readonly kind: 'transfer'; readonly transfer_id: string };

interface TaskIdentity {
  readonly task_id: string;
  readonly user_id: string;
  readonly venue: VenueId;
  readonly account?: string;
}

/** Builds the task from the present state. Undefined if there is nothing left to do. */
export function buildTask(
  entry: UserEntry,
  venue: VenueId,
  work: Work,
  task_id: string,
): ExecutorTask | undefined {
  const account = entry.head.holdings.links.get(venue)?.account;
  const identity = { task_id, user_id: entry.user_id, venue, ...(account === undefined ? {} : { account }) };
  if (work.kind === 'reconcile') return { ...identity, kind: 'reconcile' };
  if (work.kind === 'transfer') return transferTask(entry, identity, work.transfer_id);
  const order = orderOf(entry.head, work.order_id);
  return order === undefined ? undefined : orderTask(order, identity, work.kind);
}

function orderTask(order: OrderState, identity: TaskIdentity, kind: OrderWork): ExecutorTask | undefined {
  const { terms, status, venue_client_id = terms.order_id, exchange_order_id } = order;
  const known = exchange_order_id === undefined ? {} : { exchange_order_id };
  switch (kind) {
    case 'submit':
      if (status !== 'queued') return undefined;
      return { ...identity, kind, terms, attempt: order.attempts + 1 };
    case 'cancel': {
      if (order.cancel === undefined || isUnplacedYet(order)) return undefined;
      const until = order.cancel.not_after === undefined ? {} : { not_after: order.cancel.not_after };
      return { ...identity, kind, terms, venue_client_id, ...known, ...until };
    }
    case 'amend': {
      if (order.amend === undefined || exchange_order_id === undefined || order.cancel !== undefined)
        return undefined;
      const { amend_id, price, not_after } = order.amend;
      const until = not_after === undefined ? {} : { not_after };
      const wanted = { amend_id, price, quantity: terms.quantity, exchange_order_id, venue_client_id };
      return { ...identity, kind, terms, ...wanted, ...until };
    }
    case 'query': {
      if (isTerminal(order) || status === 'queued') return undefined;
      const since = order.begun_at ?? order.accepted_at;
      return { ...identity, kind, terms, venue_client_id, ...known, since };
    }
  }
}

function transferTask(
  entry: UserEntry,
  identity: TaskIdentity,
  transfer_id: string,
): ExecutorTask | undefined {
  const transfer = entry.head.holdings.transfers.get(transfer_id);
  if (transfer === undefined || transfer.status === 'COMPLETED' || transfer.status === 'FAILED')
    return undefined;
  const { terms, reference } = transfer;
  const { asset, amount, direction } = terms;
  const known = reference === undefined ? {} : { reference };
  return { ...identity, kind: 'transfer', transfer_id, asset, amount, direction, ...known };
}
