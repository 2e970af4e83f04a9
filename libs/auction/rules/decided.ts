import type { AuctionEventBody } from './events.js';
import type { Instant } from '#libs/base/instant.js';
import type { Rejection } from '#libs/base/rejection.js';

/** An event that the rules decided, with the time at which it takes effect. */
export interface Decided {
  readonly at: Instant;
  readonly body: AuctionEventBody;
}

export type Decision = { readonly ok: true; readonly events: readonly Decided[] } | Rejection;

/** What every decision knows besides the state: the time. */
export interface Moment {
  readonly now: Instant;
}
