import { Injectable } from '@nestjs/common';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { CompletedReader } from '../../projections/completed-reader.js';
import { OwnerRouter, passOn } from '../owner-router.js';
import { auctionCursor } from './auction-endpoints.js';
import { PROJECTION_UNAVAILABLE } from './completed-reads.js';

const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;
/** Room for the brackets and the cursor around the rows. */
const ENVELOPE_BYTES = 1_024;
const ITEM_TOO_LARGE = errorReply(503, 'auction_list_item_exceeds_response_limit');
const PROJECTION_INVALID = errorReply(503, 'auction_list_projection_invalid');

/** `[opened_at, auction_id, view as JSON text]` */
type Row = readonly [string, string, string];

interface PageQuery {
  readonly limit: number;
  readonly cursor: { readonly o: string; readonly i: string } | undefined;
}

/**
 * Live auctions of all owners and completed ones in one order. Owners are asked first, so an auction that leaves
 * its owner meanwhile is found in the projection.
 */
@Injectable()
export class AuctionPages {
  constructor(
    private readonly owners: OwnerRouter,
    private readonly completed: CompletedReader,
  ) {}

  async page(account: string, requestId: string, query: PageQuery): Promise<Reply> {
    const before =
      query.cursor === undefined ? {} : { before: { opened_at: query.cursor.o, auction_id: query.cursor.i } };
    // One more row than the page holds shows whether another page follows.
    const limit = query.limit + 1;
    const live = await this.owners.askAll({
      op: 'auctions',
      account,
      request_id: requestId,
      limit,
      ...before,
    });
    if ('status' in live) return passOn(live);
    let completed: readonly Row[];
    try {
      completed = await this.completed.page(account, limit, query.cursor);
    } catch {
      return PROJECTION_UNAVAILABLE;
    }
    if (!isOrdered(completed)) return PROJECTION_INVALID;
    return pageOf(
      merge(
        live.flatMap(({ body }) => JSON.parse(body) as Row[]),
        completed,
      ),
      query.limit,
    );
  }
}

function isOrdered(rows: readonly Row[]): boolean {
  return rows.every((row, index) => index === 0 || newestFirst(rows[index - 1] ?? row, row) < 0);
}

/** An auction in both lists has just completed; the row of the projection is newer. */
function merge(live: readonly Row[], completed: readonly Row[]): Row[] {
  const byId = new Map([...live, ...completed].map((row) => [row[1], row]));
  return [...byId.values()].sort(newestFirst);
}

function newestFirst(a: Row, b: Row): number {
  if (a[0] !== b[0]) return a[0] > b[0] ? -1 : 1;
  return a[1] > b[1] ? -1 : a[1] < b[1] ? 1 : 0;
}

function pageOf(rows: readonly Row[], limit: number): Reply {
  const page: Row[] = [];
  let bytes = ENVELOPE_BYTES;
  for (const row of rows.slice(0, limit)) {
    bytes += Buffer.byteLength(row[2]) + 1;
    if (bytes > MAX_RESPONSE_BYTES) break;
    page.push(row);
  }
  const last = page.at(-1);
  if (last === undefined)
    return rows.length === 0 ? { status: 200, body: '{"auctions":[]}' } : ITEM_TOO_LARGE;
  const auctions = page.map(([, , view]) => view).join(',');
  if (page.length === rows.length) return { status: 200, body: `{"auctions":[${auctions}]}` };
  const next = JSON.stringify(auctionCursor.encode({ o: last[0], i: last[1] }));
  return { status: 200, body: `{"auctions":[${auctions}],"next_cursor":${next}}` };
}
