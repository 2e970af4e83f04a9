import type { OracleArchive } from './archive.js';
import type { AuctionFile, StoryLine } from './auction-file.js';
import type { Freshness } from './freshness.js';
import { checkPage, type PageRow } from './pages.js';
import type { QuoteCourse } from './told/quote-course.js';
import { differenceOf, type Shown } from './told/shown.js';
import { must } from './violation.js';

const TRUE = 'reads tell what happened';
const PRIVATE = 'strangers see nothing';
const FULL = 'at rest everything is read';
const ANSWERED = 'parties are answered';

/** A read and its answer. */
export interface ObservedReading {
  readonly account: string;
  /** The auction that was read; empty for a read of all auctions. */
  readonly auctionId: string;
  readonly status: number;
  readonly body: string;
  /** The true time in milliseconds at which it was sent; undefined at rest, when everything must be shown. */
  readonly askedAt: number | undefined;
  /** The limit of the page, and the row after which it begins. */
  readonly limit?: number;
  /** For a timeline: the line after which it begins. */
  readonly afterSeq?: number;
  /** For quotes: the status that was filtered by, if any. */
  readonly wanted?: string;
  readonly behind?: PageRow;
}

interface Timeline extends Shown {
  readonly events: readonly Shown[];
  readonly next_after_seq?: number;
}

interface View extends Shown {
  readonly auction_id: string;
  readonly view_version: number;
}

interface Quote extends Shown {
  readonly auction_id: string;
  readonly quote_id: string;
}

/** Compares the answers to reads with the journals: every field, and whether the item is present at all. */
export class Readings {
  constructor(
    private readonly archive: OracleArchive,
    private readonly freshness: Freshness,
  ) {}

  view(reading: ObservedReading): void {
    if (this.isAnswered(reading)) this.checkView(reading, JSON.parse(reading.body) as View);
  }

  timeline(reading: ObservedReading): void {
    if (!this.isAnswered(reading)) return;
    const { account, auctionId: id } = reading;
    const told = JSON.parse(reading.body) as Timeline;
    const story = this.archive.storyOf(id, account);
    const after = reading.afterSeq ?? 0;
    const end = after + told.events.length;
    const events = story.slice(after, end).map(({ kind, at, actor, data }, index) => {
      return { seq: after + index + 1, kind, occurred_at: at, actor, data };
    });
    const next = told.next_after_seq;
    const known = this.knownOf(reading, id);
    const isLast = next === undefined && told.events.length > 0;
    // How much comes after a page that is not the last is unknown, and so is how much came before an empty one.
    const sights = isLast
      ? [this.sightAt(reading, id, end)]
      : sightsFrom(story, next === undefined ? known : end);
    must(
      next !== undefined || known <= end,
      TRUE,
      () => `the timeline of ${id} to ${account} ends at ${end}`,
    );
    const differences = sights.map(({ view: { role, status } }) =>
      differenceOf(
        { auction_id: id, role, status, complete: true, events, next_after_seq: next && end },
        told,
      ),
    );
    const isFull = next === undefined || told.events.length === reading.limit;
    must(
      isFull && differences.includes(undefined),
      TRUE,
      () => `the timeline of ${id} to ${account} after ${after}: ${differences.join(', ')}`,
    );
  }

  /** The originator sees only awarded quotes, a maker only its own. */
  ownQuotes(reading: ObservedReading): void {
    if (!this.isAnswered(reading)) return;
    const { account, auctionId: id } = reading;
    const told = JSON.parse(reading.body) as Shown;
    const story = this.archive.storyOf(id, account);
    const since = Math.max(0, this.knownOf(reading, id) - 1);
    const differences = story.slice(since).flatMap(({ sight }) => {
      return sight === undefined ? [] : [differenceOf({ quotes: sight.quotes }, told)];
    });
    must(
      differences.includes(undefined),
      TRUE,
      () => `the quotes of ${id} to ${account}: ${differences.join(', ')}`,
    );
  }

  list(reading: ObservedReading): void {
    if (!this.isAnswered(reading)) return;
    const page = JSON.parse(reading.body) as { readonly auctions: readonly View[] };
    for (const view of page.auctions) this.checkView(reading, view);
    const rows = page.auctions.map(({ auction_id: id }) => {
      return { at: this.archive.files.get(id)?.terms.opened_at ?? '', id };
    });
    const wanted = this.filesOf(reading.account).flatMap(({ id, terms }) => {
      return this.knownOf(reading, id) > 0 ? [{ at: terms.opened_at, id }] : [];
    });
    checkPage(reading, { name: 'auctions', rows, wanted, told: page });
  }

  /** All quotes that the account has ever made. */
  quotes(reading: ObservedReading): void {
    if (!this.isAnswered(reading)) return;
    const { account } = reading;
    const page = JSON.parse(reading.body) as { readonly quotes: readonly Quote[] };
    for (const quote of page.quotes) this.checkQuote(reading, quote);
    const { wanted: status } = reading;
    for (const quote of page.quotes)
      must(
        status === undefined || quote.status === status,
        TRUE,
        () => `${account} asked for ${status ?? ''}`,
      );
    const rows = page.quotes.map((quote) => ({ at: String(quote.submitted_at), id: quote.quote_id }));
    const wanted = this.filesOf(account).flatMap(({ id, shard }) => {
      const floor = this.floorOf(reading, shard);
      const own = this.archive.pictures.get(id)?.quotesOf(account) ?? [];
      return own
        .filter(({ past }) => (past[0]?.sequence ?? Infinity) <= floor && hasBeen(status, past, floor))
        .map(({ shown }) => ({ at: String(shown.submitted_at), id: String(shown.quote_id) }));
    });
    checkPage(reading, { name: 'quotes', rows, wanted, told: page });
  }

  /** Checks only the status; the amounts of a preflight are not computed again. */
  preflight({ account, status, body }: ObservedReading): void {
    must(
      [200, 403, 404, 422, 500, 503].includes(status),
      ANSWERED,
      () => `${account} gets ${status} ${body}`,
    );
  }

  /** Whether the answer has content. A party must get neither "not found" nor an error. */
  private isAnswered(reading: ObservedReading): boolean {
    const { account, auctionId: id, status, body } = reading;
    const isOfAll = id === '';
    must(
      [200, 429, 503].includes(status) || (status === 404 && !isOfAll),
      ANSWERED,
      () => `${account} gets ${status} ${body} of ${id}`,
    );
    const isParty = isOfAll || this.archive.storyOf(id, account).length > 0;
    if (status === 200) must(isParty, PRIVATE, () => `${account} reads ${id}`);
    if (status === 404)
      must(this.knownOf(reading, id) === 0, ANSWERED, () => `${account} is answered that there is no ${id}`);
    return status === 200;
  }

  private checkView(reading: ObservedReading, view: View): void {
    const { account } = reading;
    const { auction_id: id, view_version: version } = view;
    must(this.archive.storyOf(id, account).length > 0, PRIVATE, () => `${account} sees ${id}`);
    const difference = differenceOf(this.sightAt(reading, id, version).view, view);
    must(difference === undefined, TRUE, () => `${id} as ${account} sees it: ${difference ?? ''}`);
  }

  private checkQuote(reading: ObservedReading, quote: Quote): void {
    const { account } = reading;
    const { quote_id: id, auction_id: auctionId } = quote;
    const course = this.archive.pictures.get(auctionId)?.quotes.get(id);
    must(course?.maker === account, PRIVATE, () => `${account} reads quote ${id}`);
    const floor = this.floorOf(reading, this.archive.files.get(auctionId)?.shard ?? 0);
    const since = Math.max(
      0,
      course.past.findLastIndex(({ sequence }) => sequence <= floor),
    );
    const differences = course.past.slice(since).map(({ shown }) => differenceOf(shown, quote));
    must(differences.includes(undefined), TRUE, () => `quote ${id} of ${account}: ${differences.join(', ')}`);
  }

  /** The view at this point of the timeline, which the journal must have reached. */
  private sightAt(reading: ObservedReading, id: string, version: number): NonNullable<StoryLine['sight']> {
    const { account } = reading;
    const story = this.archive.storyOf(id, account);
    const known = this.knownOf(reading, id);
    const check = reading.askedAt === undefined ? FULL : TRUE;
    must(
      version >= known && version <= story.length,
      check,
      () => `${id} as ${account} sees it is at ${version} of ${story.length}, and ${known} must be known`,
    );
    const sight = story[version - 1]?.sight;
    must(sight !== undefined, TRUE, () => `${id} as ${account} sees it is at ${version}, within a record`);
    return sight;
  }

  /** The position in the timeline that any answer must include. */
  private knownOf(reading: ObservedReading, id: string): number {
    const floor = this.floorOf(reading, this.archive.files.get(id)?.shard ?? 0);
    const story = this.archive.storyOf(id, reading.account);
    return story.findLastIndex(({ sequence }) => sequence <= floor) + 1;
  }

  private floorOf({ askedAt }: ObservedReading, shard: number): number {
    return askedAt === undefined ? Infinity : this.freshness.floor(shard, askedAt);
  }

  private filesOf(account: string): AuctionFile[] {
    return [...this.archive.files.values()].filter(({ stories }) => stories.has(account));
  }
}

/** All views from this position of the timeline on. */
function sightsFrom(story: readonly StoryLine[], end: number): NonNullable<StoryLine['sight']>[] {
  return story.slice(Math.max(0, end - 1)).flatMap(({ sight }) => sight ?? []);
}

/** Whether some version of the quote since that record had the status. */
function hasBeen(status: string | undefined, past: QuoteCourse['past'], since: number): boolean {
  if (status === undefined) return true;
  const known = Math.max(
    0,
    past.findLastIndex(({ sequence }) => sequence <= since),
  );
  return past.slice(known).every(({ shown }) => shown.status === status);
}
