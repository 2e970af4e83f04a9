import {
  awardView,
  type AwardView,
  originatorAsSeenBy,
  ownAwardView,
  type OwnAwardView,
  type PartyView,
} from './award-view.js';
import type { CancelledBy } from '../events.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import { quoteView, type QuoteView } from './quote-view.js';
import { type AuctionState, bookOf, isLive } from '../state.js';
import type {
  Allocation,
  Grid,
  IdentityPolicy,
  QuoteRevisionPolicy,
  ResultDisclosure,
  Route,
  Side,
} from '../terms.js';
import {
  awardOf,
  completionFor,
  isDecided,
  isOverFor,
  judgedQuote,
  statusFor,
  type ViewedStatus,
  type Viewer,
} from './viewer.js';

/**
 * An auction as one viewer sees it. Live and completed reads give the same bytes, so the order of fields is fixed:
 * as in these interfaces, common fields first. A field that does not apply is absent.
 */
export type AuctionView = OriginatorView | MakerView;

interface CommonView extends Grid {
  readonly auction_id: string;
  readonly status: ViewedStatus;
  readonly phase: 'LIVE' | 'COMPLETED';
  readonly view_version: number;
  readonly side: Side;
  readonly quantity_atoms: Atoms;
  readonly allocation: Allocation;
  /** Only with `SPLIT`. */
  readonly max_winners?: number;
  readonly quote_revision_policy: QuoteRevisionPolicy;
  readonly result_disclosure: ResultDisclosure;
  readonly routes: readonly Route[];
  readonly opened_at: Instant;
  readonly closes_at: Instant;
  readonly closed_at?: Instant;
  readonly completed_at?: Instant;
}

export interface OriginatorView extends CommonView {
  readonly role: 'ORIGINATOR';
  readonly limit_price_atoms?: Atoms;
  readonly min_fill_quantity_atoms: Atoms;
  readonly client_reference?: string;
  readonly identity_policy: IdentityPolicy;
  readonly execution_deadline_ms: number;
  readonly audience: { readonly invited_count: number; readonly market_maker_ids: readonly string[] };
  readonly award?: AwardView;
  readonly cancellation?: {
    readonly cancelled_at: Instant;
    readonly cancelled_by: CancelledBy;
    readonly reason?: string;
  };
}

export interface MakerView extends CommonView {
  readonly role: 'MARKET_MAKER';
  readonly originator: PartyView;
  /** Its latest quote, in any status. */
  readonly my_quote?: QuoteView;
  readonly award?: OwnAwardView;
  readonly cancellation?: { readonly cancelled_at: Instant };
}

export function auctionView(state: AuctionState, viewer: Viewer): AuctionView {
  return viewer.role === 'ORIGINATOR' ? originatorView(state, viewer) : makerView(state, viewer);
}

function originatorView(state: AuctionState, viewer: Viewer): OriginatorView {
  const { terms, cancellation } = state;
  const award = awardView(state);
  return {
    ...commonView(state, viewer, 'ORIGINATOR'),
    ...(terms.limit_price_atoms !== undefined && { limit_price_atoms: terms.limit_price_atoms }),
    min_fill_quantity_atoms: terms.min_fill_quantity_atoms,
    ...(terms.client_reference !== undefined && { client_reference: terms.client_reference }),
    identity_policy: {
      originator: terms.identity_policy.originator,
      market_makers: terms.identity_policy.market_makers,
    },
    execution_deadline_ms: terms.execution_deadline_ms,
    audience: {
      invited_count: terms.audience.length,
      market_maker_ids: terms.audience.map((party) => party.account_id),
    },
    ...(award !== undefined && { award }),
    ...(cancellation !== undefined && {
      cancellation: {
        cancelled_at: cancellation.at,
        cancelled_by: cancellation.by,
        ...(cancellation.reason !== undefined && { reason: cancellation.reason }),
      },
    }),
  };
}

function makerView(state: AuctionState, viewer: Viewer): MakerView {
  const maker = viewer.account_id;
  const quote = bookOf(state, maker)?.quotes.at(-1);
  const award = ownAwardView(state, maker);
  return {
    ...commonView(state, viewer, 'MARKET_MAKER'),
    originator: originatorAsSeenBy(state, maker),
    ...(quote !== undefined && { my_quote: quoteView(state, quote) }),
    ...(award !== undefined && { award }),
    ...(state.cancellation !== undefined && { cancellation: { cancelled_at: state.cancellation.at } }),
  };
}

function commonView<Role extends Viewer['role']>(
  state: AuctionState,
  viewer: Viewer,
  role: Role,
): CommonView & { readonly role: Role } {
  const { terms } = state;
  const status = statusFor(state, viewer);
  const completedAt = completionFor(state, viewer);
  return {
    auction_id: terms.auction_id,
    role,
    status,
    phase: phaseOf(status),
    view_version: viewVersion(state, viewer),
    side: terms.side,
    quantity_atoms: terms.quantity_atoms,
    allocation: terms.allocation,
    ...(terms.allocation === 'SPLIT' && { max_winners: terms.max_winners }),
    quote_revision_policy: terms.quote_revision_policy,
    result_disclosure: terms.result_disclosure,
    routes: terms.routes.map(({ venue, contract_id, outcome, title }) => ({
      venue,
      contract_id,
      outcome,
      title,
    })),
    price_tick_atoms: terms.grid.price_tick_atoms,
    min_price_atoms: terms.grid.min_price_atoms,
    max_price_atoms: terms.grid.max_price_atoms,
    quantity_step_atoms: terms.grid.quantity_step_atoms,
    opened_at: terms.opened_at,
    closes_at: terms.closes_at,
    ...(state.closed_at !== undefined && { closed_at: state.closed_at }),
    ...(completedAt !== undefined && { completed_at: completedAt }),
  };
}

/** COMPLETED once the auction is over for this viewer: nothing more comes. */
export function phaseOf(status: ViewedStatus): AuctionView['phase'] {
  return status !== 'COMPLETED' && isLive(status) ? 'LIVE' : 'COMPLETED';
}

const OPENED = 1;
const OPENED_AND_INVITED = 2;

/**
 * The number of entries on the viewer's timeline, computed from the state: `view_version` equals the last `seq`.
 * Other makers' quotes never count, and for the originator no quotes count.
 */
export function viewVersion(state: AuctionState, viewer: Viewer): number {
  const own =
    viewer.role === 'ORIGINATOR' ? originatorEntries(state) : makerEntries(state, viewer.account_id);
  const ending = [state.cancellation, state.closed_at].filter((reached) => reached !== undefined).length;
  return own + ending + (isOverFor(state, viewer) ? 1 : 0);
}

function originatorEntries(state: AuctionState): number {
  const execution = state.awards.reduce((sum, award) => sum + award.execution_events, 0);
  return OPENED + (isDecided(state) ? 1 : 0) + execution;
}

function makerEntries(state: AuctionState, maker: string): number {
  const quotes = bookOf(state, maker)?.quote_events ?? 0;
  const result = isDecided(state) && judgedQuote(state, maker) !== undefined ? 1 : 0;
  return OPENED_AND_INVITED + quotes + result + (awardOf(state, maker)?.execution_events ?? 0);
}
