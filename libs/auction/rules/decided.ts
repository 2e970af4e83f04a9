import type { AuctionEventBody } from './events.js';
import type { Instant } from '#libs/base/instant.js';
import type { Rejection } from '#libs/base/rejection.js';

/** An event that the rules have decided on, with its own time. */
export interface Decided {
  readonly at: Instant;
  readonly body: AuctionEventBody;
}

export type Decision = { readonly ok: true; readonly events: readonly Decided[] } | Rejection;

/** What every decision is told of the world. */
export interface Moment {
  readonly now: Instant;
}
