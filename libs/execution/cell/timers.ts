import type { Instant } from '#libs/base/instant.js';
import { decideCancel } from '../rules/decide/cancel.js';
import type { CellEvent } from '../rules/events.js';
import type { OrderState } from '../rules/order.js';
import type { CancelTimer, UserState } from '../rules/user.js';

function isMeant({ venue, connection_id }: CancelTimer, { terms }: OrderState): boolean {
  if (connection_id !== undefined) return terms.connection_id === connection_id;
  return venue === undefined || venue === terms.venue;
}

/** A timer that was not renewed in time cancels what it stands for, once. */
export function decideTimer(user: UserState, user_id: string, name: string, at: Instant): CellEvent[] {
  const timer = user.timers.get(name);
  if (timer === undefined || timer.due_at > at) return [];
  const cause = timer.connection_id === undefined ? 'CANCEL_AFTER' : 'DISCONNECT';
  const meant = [...user.live.values()].filter((order) => isMeant(timer, order));
  const cancels = meant.flatMap((order) => decideCancel(order, { cause, at }));
  return [...cancels, { type: 'CANCEL_TIMER_ENDED', at, user_id, timer: name, was_due: true }];
}
