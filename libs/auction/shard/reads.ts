import { quotesFor } from '../rules/told/award-view.js';
import { quoteView } from '../rules/told/quote-view.js';
import { type AuctionState, bookOf } from '../rules/state.js';
import { timeline } from '../rules/told/timeline.js';
import { auctionView, viewVersion } from '../rules/told/view.js';
import { awardOf, isDecided, isOverFor, statusFor, type Viewer, viewerOf } from '../rules/told/viewer.js';
import { fault, type LinkReply, reply } from '#libs/link/link-protocol.js';
import { NOT_HELD, type OwnerRequest, type ReadPreferences } from '../protocol/protocol.js';
import type { AuctionBook, AuctionEntry } from './memory/auction-book.js';
import type { CompletedAuctions, ListRow } from './ports.js';
import type { StoredAnswers } from './memory/stored-answers.js';

type Read<Op extends OwnerRequest['op']> = Extract<OwnerRequest, { op: Op }>;

export interface ReadPorts {
  readonly book: AuctionBook;
  readonly stored: StoredAnswers;
  readonly completed: CompletedAuctions;
  readonly projectedTo: () => number;
  /** The last position that readers may see. */
  readonly durableHead: () => number;
}

interface VisibleAuction {
  readonly entry: AuctionEntry;
  readonly state: AuctionState;
  readonly viewer: Viewer;
}

/**
 * Answers from memory, with durable state only. Auctions that are over for the viewer are left to the projections once they have
 * them.
 */
export class Reads {
  constructor(private readonly ports: ReadPorts) {}

  auction(request: Read<'auction'>, peer: ReadPreferences): LinkReply {
    const visible = this.visible(request.auction_id, request.account);
    if (visible === undefined) return NOT_HELD;
    if (!peer.readFallback && isOverFor(visible.state, visible.viewer)) return NOT_HELD;
    return reply(200, auctionView(visible.state, visible.viewer));
  }

  /** Newest first. The views are JSON text, so that the caller can merge pages without parsing them. */
  async auctions(request: Read<'auctions'>, peer: ReadPreferences): Promise<LinkReply> {
    const visible = this.visibleRows(request);
    if (peer.activeOnly) return reply(200, visible);
    const { account, limit, before } = request;
    const cursor = before === undefined ? undefined : { o: before.opened_at, i: before.auction_id };
    const completed = await this.ports.completed.page(account, limit, cursor);
    const byId = new Map([...visible, ...completed].map((row) => [row[1], row]));
    return reply(200, [...byId.values()].sort(newestFirst).slice(0, limit));
  }

  private visibleRows(request: Read<'auctions'>): ListRow[] {
    const rows: [string, string, VisibleAuction][] = [];
    for (const entry of this.ports.book.of(request.account)) {
      const visible = this.visibleEntry(entry, request.account);
      if (visible === undefined) continue;
      const { opened_at: openedAt } = visible.state.terms;
      if (request.before === undefined || isBefore(openedAt, entry.id, request.before)) {
        rows.push([openedAt, entry.id, visible]);
      }
    }
    rows.sort(newestFirst);
    return rows.slice(0, request.limit).map(([openedAt, id, { state, viewer }]) => {
      return [openedAt, id, JSON.stringify(auctionView(state, viewer))];
    });
  }

  quotes(request: Read<'auction_quotes'>): LinkReply {
    const visible = this.visible(request.auction_id, request.account);
    return visible === undefined
      ? NOT_HELD
      : reply(200, { quotes: quotesFor(visible.state, visible.viewer) });
  }

  /** The account's quotes in auctions that are not fully projected yet: `[submitted_at, quote_id, status, JSON text]`. */
  unprojectedQuotes(request: Read<'my_quotes'>): LinkReply {
    const projected = this.ports.projectedTo();
    const rows: string[][] = [];
    for (const entry of this.ports.book.of(request.account)) {
      const { durable } = entry;
      if (durable === undefined || (entry.positions.at(-1) ?? 0) <= projected) continue;
      for (const quote of bookOf(durable, request.account)?.quotes ?? []) {
        const view = quoteView(durable, quote);
        rows.push([quote.submitted_at, quote.quote_id, view.status, JSON.stringify(view)]);
      }
    }
    return reply(200, rows);
  }

  async events(request: Read<'events'>): Promise<LinkReply> {
    const visible = this.visible(request.auction_id, request.account);
    if (visible === undefined) return NOT_HELD;
    const { entry, state, viewer } = visible;
    const version = viewVersion(state, viewer);
    const history = await this.ports.stored.eventsOf(entry, this.ports.durableHead());
    const { entries } = timeline(history, viewer);
    // Events that were journaled while the history was read belong to the next page.
    const known = entries.slice(0, version);
    if (known.length < version) return fault(503, 'audit_timeline_incomplete');
    const from = request.after_seq;
    const page = known.slice(from, from + request.limit);
    const more = known.length > from + page.length ? { next_after_seq: from + page.length } : {};
    return reply(200, {
      auction_id: entry.id,
      role: viewer.role,
      status: statusFor(state, viewer),
      complete: true,
      events: page,
      ...more,
    });
  }

  private visible(auctionId: string, account: string): VisibleAuction | undefined {
    const entry = this.ports.book.findFor(account, auctionId);
    return entry === undefined ? undefined : this.visibleEntry(entry, account);
  }

  private visibleEntry(entry: AuctionEntry, account: string): VisibleAuction | undefined {
    if (entry.durable === undefined) return undefined;
    const viewer = viewerOf(entry.durable, account);
    if (viewer === undefined) return undefined;
    if (isOverFor(entry.durable, viewer) && this.isProjectedFor(entry, viewer)) return undefined;
    return { entry, state: entry.durable, viewer };
  }

  private isProjectedFor(entry: AuctionEntry, viewer: Viewer): boolean {
    const overAt = overAtFor(entry, viewer);
    return overAt !== undefined && overAt <= this.ports.projectedTo();
  }
}

/** Position of the event with which the auction was over for the viewer. */
function overAtFor(
  { durable, awardEnds, decidedAt, completedAt }: AuctionEntry,
  viewer: Viewer,
): number | undefined {
  if (durable === undefined || viewer.role === 'ORIGINATOR' || !isDecided(durable)) return completedAt;
  return awardOf(durable, viewer.account_id) === undefined ? decidedAt : awardEnds?.get(viewer.account_id);
}

function isBefore(openedAt: string, id: string, cursor: { opened_at: string; auction_id: string }): boolean {
  return openedAt < cursor.opened_at || (openedAt === cursor.opened_at && id < cursor.auction_id);
}

function newestFirst(a: readonly [string, string, unknown], b: readonly [string, string, unknown]): number {
  if (a[0] !== b[0]) return a[0] > b[0] ? -1 : 1;
  return a[1] > b[1] ? -1 : 1;
}
