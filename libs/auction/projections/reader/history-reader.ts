import type { Pool } from 'pg';
import type { AuctionEvent, Placed } from '../../rules/events.js';
import { decodeEvent } from '../../rules/event-versions.js';

export const HISTORY = `
  select sequence, payload from auction_history.events where auction_id = $1 and sequence <= $2 order by sequence`;

export interface EventRow {
  readonly sequence: number;
  readonly payload: string;
}

/** The auction's events up to a position of the journal, in order. */
export async function readHistory(
  pool: Pool,
  auctionId: string,
  upTo: number,
): Promise<Placed<AuctionEvent>[]> {
  const { rows } = await pool.query<EventRow>({
    name: 'auction-history',
    text: HISTORY,
    values: [auctionId, upTo],
  });
  return rows.map(placed);
}

export function placed({ sequence, payload }: EventRow): Placed<AuctionEvent> {
  return { position: sequence, event: decodeEvent(payload) as AuctionEvent };
}
