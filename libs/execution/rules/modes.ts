import type { Instant } from '#libs/base/instant.js';
import type { OrderKind, OrderSide } from './amounts.js';
import type { TimeInForce, VenueId } from './venues.js';

export type Mode = 'on' | 'reduce_only' | 'cancel_only' | 'halted';

/** A restriction that an operator set. An absent field matches everything. */
export interface Switch {
  readonly venue?: VenueId;
  readonly side?: OrderSide;
  readonly kind?: OrderKind;
  readonly time_in_force?: TimeInForce;
  readonly user_id?: string;
  readonly mode: Mode;
  readonly since: Instant;
  readonly resumes_at?: Instant;
}

export interface Switched {
  readonly venue: VenueId;
  readonly side: OrderSide;
  readonly kind: OrderKind;
  readonly time_in_force: TimeInForce;
  readonly user_id: string;
}

export type SwitchScope = 'global' | 'venue' | 'order' | 'user';

export interface ModeInForce {
  readonly mode: Mode;
  readonly scope: SwitchScope;
  readonly since: Instant;
  readonly resumes_at?: Instant;
}

const STRICTNESS: Readonly<Record<Mode, number>> = { on: 0, reduce_only: 1, cancel_only: 2, halted: 3 };
const FOR_EVER: ModeInForce = { mode: 'on', scope: 'global', since: '1970-01-01T00:00:00.000000000Z' };

export function scopeOf({ venue, side, kind, time_in_force, user_id }: Switch): SwitchScope {
  if (user_id !== undefined) return 'user';
  if (side !== undefined || kind !== undefined || time_in_force !== undefined) return 'order';
  return venue === undefined ? 'global' : 'venue';
}

function matches(one: Switch, order: Partial<Switched>): boolean {
  return (
    (one.venue === undefined || one.venue === order.venue) &&
    (one.side === undefined || one.side === order.side) &&
    (one.kind === undefined || one.kind === order.kind) &&
    (one.time_in_force === undefined || one.time_in_force === order.time_in_force) &&
    (one.user_id === undefined || one.user_id === order.user_id)
  );
}

/** The strictest matching switch counts. Of equally strict ones, the first. */
export function modeFor(switches: readonly Switch[], order: Partial<Switched>): ModeInForce {
  let strictest = FOR_EVER;
  for (const one of switches) {
    if (!matches(one, order)) continue;
    const isFirst = strictest === FOR_EVER;
    if (!isFirst && STRICTNESS[one.mode] <= STRICTNESS[strictest.mode]) continue;
    const { mode, since, resumes_at } = one;
    const until = resumes_at === undefined ? {} : { resumes_at };
    strictest = { mode, scope: scopeOf(one), since, ...until };
  }
  return strictest;
}

/** Whether orders and amends may be sent to the venue. Cancels may be sent in every mode but `halted`. */
export function lets(mode: Mode, side: OrderSide): boolean {
  return mode === 'on' || (mode === 'reduce_only' && side === 'sell');
}
