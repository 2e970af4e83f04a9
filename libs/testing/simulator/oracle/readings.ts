import type { Archive } from './archive.js';
import { must } from './violation.js';

const TRUE = 'reads tell what happened';
const PRIVATE = 'strangers see nothing';
const FULL = 'at rest everything is read';

interface Timeline {
  readonly complete: boolean;
  readonly events: readonly { readonly seq: number; readonly kind: string; readonly occurred_at: string }[];
}

interface View {
  readonly auction_id: string;
  readonly role: string;
  readonly status: string;
  readonly view_version: number;
}

/** What reads answer, held against the journals. */
export class Readings {
  constructor(private readonly archive: Archive) {}

  view(account: string, status: number, body: string): void {
    if (status !== 200) return;
    this.checkView(account, JSON.parse(body) as View);
  }

  list(account: string, status: number, body: string): void {
    if (status !== 200) return;
    const { auctions } = JSON.parse(body) as { readonly auctions: readonly View[] };
    for (const view of auctions) this.checkView(account, view);
    must(
      new Set(auctions.map((view) => view.auction_id)).size === auctions.length,
      TRUE,
      () => 'an auction is listed twice',
    );
  }

  timeline(account: string, auctionId: string, status: number, body: string): void {
    if (status !== 200) return;
    const { complete, events } = JSON.parse(body) as Timeline;
    const story = this.archive.storyOf(auctionId, account);
    must(story.length > 0, PRIVATE, () => `${account} reads the timeline of ${auctionId}`);
    must(
      complete && events.length <= story.length,
      TRUE,
      () => `${events.length} of ${story.length} entries of ${auctionId}`,
    );
    for (const [index, { seq, kind, occurred_at: at }] of events.entries()) {
      const line = story[index];
      must(
        seq === index + 1 && line?.kind === kind && line.at === at,
        TRUE,
        () => `${seq} of ${auctionId} is ${kind} instead of ${line?.kind ?? ''}`,
      );
    }
  }

  quotes(account: string, status: number, body: string): void {
    if (status !== 200) return;
    const { quotes } = JSON.parse(body) as {
      readonly quotes: readonly { readonly quote_id: string; readonly auction_id: string }[];
    };
    for (const { quote_id: id, auction_id: auctionId } of quotes) {
      const quote = this.archive.files.get(auctionId)?.quotes.get(id);
      must(quote?.maker === account, PRIVATE, () => `${account} reads quote ${id}`);
    }
  }

  /** The originator sees awarded quotes alone, a maker its own. */
  ownQuotes(account: string, status: number, body: string): void {
    if (status !== 200) return;
    const { quotes } = JSON.parse(body) as {
      readonly quotes: readonly { readonly quote_id: string; readonly auction_id: string }[];
    };
    for (const { quote_id: id, auction_id: auctionId } of quotes) {
      const file = this.archive.files.get(auctionId);
      const isAwarded = [...(file?.awards.values() ?? [])].some(({ terms }) => terms.quote_id === id);
      const isOwn = file?.quotes.get(id)?.maker === account;
      const isMay = isOwn || (isAwarded && file?.terms.originator.account_id === account);
      must(isMay, PRIVATE, () => `${account} reads quote ${id}`);
    }
  }

  preflight(account: string, status: number, body: string): void {
    must([200, 403, 404, 422, 500, 503].includes(status), TRUE, () => `${account} is told ${status} ${body}`);
  }

  /** Everybody's last word, at any gateway: nothing of the story is missing. */
  atRest(account: string, auctionId: string, view: string, timeline: string): void {
    const file = this.archive.files.get(auctionId);
    const story = this.archive.storyOf(auctionId, account);
    const told = JSON.parse(timeline) as Timeline;
    const shown = JSON.parse(view) as View;
    must(
      told.events.length === story.length,
      FULL,
      () => `${told.events.length} of ${story.length} entries of ${auctionId}`,
    );
    must(
      shown.view_version === story.length,
      FULL,
      () => `${auctionId} at version ${shown.view_version} of ${story.length}`,
    );
    if (shown.role === 'ORIGINATOR')
      must(
        shown.status === file?.status,
        FULL,
        () => `${auctionId} is ${shown.status} instead of ${file?.status ?? ''}`,
      );
  }

  private checkView(account: string, view: View): void {
    const story = this.archive.storyOf(view.auction_id, account);
    must(story.length > 0, PRIVATE, () => `${account} sees ${view.auction_id}`);
    must(
      view.view_version > 0 && view.view_version <= story.length,
      TRUE,
      () => `${view.auction_id} at version ${view.view_version} of ${story.length}`,
    );
    const isOriginator = this.archive.files.get(view.auction_id)?.terms.originator.account_id === account;
    must(
      view.role === (isOriginator ? 'ORIGINATOR' : 'MARKET_MAKER'),
      TRUE,
      () => `${account} is ${view.role}`,
    );
  }
}
