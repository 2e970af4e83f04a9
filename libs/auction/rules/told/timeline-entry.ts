import type { AwardView } from './award-view.js';
import type { ExecutionStep, NotAwardedReason, QuoteOperation } from '../events.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { Loss, QuoteView } from './quote-view.js';
import type { AuctionState } from '../state.js';
import { auctionView, type AuctionView } from './view.js';
import type { ViewedStatus, Viewer } from './viewer.js';

/** Who did it, as the viewer sees it. `SELF` is the viewer, also for the originator of its own auction. */
export type Actor = 'SELF' | 'ORIGINATOR' | 'SYSTEM' | 'OPERATOR';

interface Kind<Name extends string, Data> {
  readonly kind: Name;
  readonly occurred_at: Instant;
  readonly actor: Actor;
  readonly data: Data;
}

export interface RefusedQuoteCall {
  readonly operation: QuoteOperation;
  readonly error: string;
  readonly message: string;
  readonly quote_id?: string;
}

export interface WonQuote {
  readonly quote_id: string;
  readonly award_id: string;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
}

export interface ExecutionNews {
  readonly award_id: string;
  readonly attempt: number;
  readonly reason?: string;
}

type Nothing = Readonly<Record<string, never>>;

/** One entry of a viewer's timeline, without its number. */
export type TimelineEntry =
  | Kind<'AUCTION_OPENED', { readonly auction: AuctionView }>
  | Kind<'INVITATION_RECEIVED' | 'AUCTION_VOIDED' | 'AUCTION_CLOSED', Nothing>
  | Kind<
      'QUOTE_ACCEPTED' | 'QUOTE_REVISED' | 'QUOTE_WITHDRAWN' | 'QUOTE_EXPIRED',
      { readonly quote: QuoteView }
    >
  | Kind<'QUOTE_REJECTED', RefusedQuoteCall>
  | Kind<'AUCTION_CANCELLED', { readonly reason?: string }>
  | Kind<'AUCTION_AWARDED', { readonly award: AwardView }>
  | Kind<'AUCTION_NOT_AWARDED', { readonly reason: NotAwardedReason }>
  | Kind<'QUOTE_AWARDED', WonQuote>
  | Kind<'QUOTE_NOT_AWARDED', { readonly quote_id: string } & Loss>
  | Kind<ExecutionKind, ExecutionNews>
  | Kind<'AUCTION_COMPLETED', { readonly status: ViewedStatus }>;

export type ExecutionKind =
  'EXECUTION_SUBMITTED' | 'EXECUTION_RETRYING' | 'EXECUTION_CONFIRMED' | 'EXECUTION_FAILED';

/** `seq` starts at 1 for each viewer and has no gaps. */
export type NumberedEntry = { readonly seq: number } & TimelineEntry;

const FIRST_VERSION = 1;

/** The view in the first entry. A maker's invitation comes from the same event but is the second entry. */
export function openingView(opened: AuctionState, viewer: Viewer): AuctionView {
  return { ...auctionView(opened, viewer), view_version: FIRST_VERSION };
}

export function executionEntry(kind: ExecutionKind, occurredAt: Instant, step: ExecutionStep): TimelineEntry {
  return {
    kind,
    occurred_at: occurredAt,
    actor: 'SYSTEM',
    data: {
      award_id: step.award_id,
      attempt: step.attempt,
      ...(step.reason !== undefined && { reason: step.reason }),
    },
  };
}
