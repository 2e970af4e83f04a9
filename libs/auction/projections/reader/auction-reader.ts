import type { Pool } from 'pg';
import type { CompletedStatus } from '../../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import type { AuctionState } from '../../rules/state.js';
import { auctionView } from '../../rules/told/view.js';
import { type Viewer, viewerOf, type ViewerRole } from '../../rules/told/viewer.js';
import { BEFORE_ALL, storedInstant } from '../tables/answers.js';

/** An auction that is over for the viewer. */
export interface FoundAuction {
  readonly state: AuctionState;
  readonly viewer: Viewer;
  /** Number of events in the state, and the position of the last one. */
  readonly events: number;
  readonly sequence: number;
}

export interface AuctionMark {
  /** `opened_at` of the auction after which the page begins. */
  readonly o: Instant;
  readonly i: string;
}

export type ListedAuction = readonly [openedAt: Instant, auctionId: string, view: string];

/**
 * Looks for the viewer first. An auction that is not over for the viewer and an unknown id miss in the same index, and take the
 * same time. Materialized, because the planner might otherwise begin with the auction.
 */
export const ONE = `
  with mine as materialized (
    select auction_id from completed.viewers where viewer_id = $2 and auction_id = $1
  )
  select auction.state, auction.events, auction.sequence from mine join completed.auctions auction using (auction_id)`;

export const ROLE = `
  select is_originator from completed.viewers where viewer_id = $2 and auction_id = $1`;

export const PAGE = `
  select auction.state from completed.viewers viewer
  join completed.auctions auction using (auction_id)
  where viewer.viewer_id = $1 and (viewer.opened_at, viewer.auction_id) < ($2::bigint, $3::uuid)
  order by viewer.opened_at desc, viewer.auction_id desc limit $4`;

/** The status of a completed auction. For operators, who see more than its viewers. */
export const END = `
  select status from completed.auctions where auction_id = $1 and completed_at is not null`;

interface StateRow {
  readonly state: string;
}

export class AuctionReader {
  constructor(private readonly pool: Pool) {}

  async find(auctionId: string, viewerId: string): Promise<FoundAuction | undefined> {
    const { rows } = await this.pool.query<StateRow & Pick<FoundAuction, 'events' | 'sequence'>>({
      name: 'completed-auction',
      text: ONE,
      values: [auctionId, viewerId],
    });
    const [row] = rows;
    if (row === undefined) return undefined;
    return { ...readState(row, viewerId), events: row.events, sequence: row.sequence };
  }

  async roleOn(auctionId: string, account: string): Promise<ViewerRole | undefined> {
    const { rows } = await this.pool.query<{ is_originator: boolean }>({
      name: 'completed-role',
      text: ROLE,
      values: [auctionId, account],
    });
    const [row] = rows;
    if (row === undefined) return undefined;
    return row.is_originator ? 'ORIGINATOR' : 'MARKET_MAKER';
  }

  async statusOf(auctionId: string): Promise<CompletedStatus | undefined> {
    const { rows } = await this.pool.query<{ status: CompletedStatus }>({
      name: 'completed-status',
      text: END,
      values: [auctionId],
    });
    return rows[0]?.status;
  }

  async page(viewerId: string, limit: number, before?: AuctionMark): Promise<ListedAuction[]> {
    const cursor = before === undefined ? BEFORE_ALL : { at: storedInstant(before.o), id: before.i };
    const { rows } = await this.pool.query<StateRow>({
      name: 'completed-page',
      text: PAGE,
      values: [viewerId, cursor.at, cursor.id, limit],
    });
    return rows.map((row) => {
      const { state, viewer } = readState(row, viewerId);
      const { opened_at: openedAt, auction_id: id } = state.terms;
      return [openedAt, id, JSON.stringify(auctionView(state, viewer))];
    });
  }
}

function readState({ state: text }: StateRow, viewerId: string): Pick<FoundAuction, 'state' | 'viewer'> {
  const state = JSON.parse(text) as AuctionState;
  const viewer = viewerOf(state, viewerId);
  if (viewer === undefined) throw new Error(`auction ${state.terms.auction_id} does not know its viewer`);
  return { state, viewer };
}
