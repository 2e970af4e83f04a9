import type { Pool } from 'pg';
import { timeline } from '../../rules/told/timeline.js';
import type { NumberedEntry } from '../../rules/told/timeline-entry.js';
import { viewVersion } from '../../rules/told/view.js';
import { statusFor, type ViewedStatus, type ViewerRole } from '../../rules/told/viewer.js';
import type { FoundAuction } from './auction-reader.js';
import type { AuctionEvent, Placed } from '../../rules/events.js';
import { decodeEvent } from '../../rules/event-versions.js';

export interface TimelineBody {
  readonly auction_id: string;
  readonly role: ViewerRole;
  readonly status: ViewedStatus;
  readonly complete: true;
  readonly events: readonly NumberedEntry[];
  readonly next_after_seq?: number;
}

export class TimelineReader {
  constructor(private readonly pool: Pool) {}

  /** A page of the viewer's timeline, if the stored history has all events of the state. */
  async page(found: FoundAuction, afterSeq: number, limit: number): Promise<TimelineBody | 'incomplete'> {
    const { state, viewer } = found;
    const { auction_id: id } = state.terms;
    const history = await readHistory(this.pool, id, found.sequence);
    if (history.length !== found.events || history.at(-1)?.position !== found.sequence) return 'incomplete';
    const { entries } = timeline(history, viewer);
    if (entries.length !== viewVersion(state, viewer)) return 'incomplete';
    const events = entries.slice(afterSeq, afterSeq + limit);
    const more =
      entries.length > afterSeq + events.length ? { next_after_seq: afterSeq + events.length } : {};
    return {
      auction_id: id,
      role: viewer.role,
      status: statusFor(state, viewer),
      complete: true,
      events,
      ...more,
    };
  }
}

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
