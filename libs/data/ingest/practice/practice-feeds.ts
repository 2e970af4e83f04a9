import type { Clock } from '#libs/platform/time/clock.js';
import type { SourceFeed } from '../source.js';
import { openFeedKey } from './b/feed-key.js';
import { PublicVenueB } from './b/public-b.js';
import { PublicVenueE } from './e/public-e.js';
import { VenueFeed } from './venue-feed.js';
import { PublicReads } from './public-reads.js';

export interface PracticeFeedOptions {
  readonly clock: Clock;
  /** With `/trade-api/v2`. */
  readonly venueBUrl?: string;
  /** Where accounts of venue b are opened. Without it its socket stays closed to us, and its lists are read more often. */
  readonly venueBAccountsUrl?: string;
  readonly venueEUrl?: string;
  /** So long an answer may take. */
  readonly timeoutMillis?: number;
}

/** A source for each practice venue that has an address. */
export function practiceFeeds(options: PracticeFeedOptions): SourceFeed[] {
  const { clock, venueBUrl, venueBAccountsUrl: accounts, venueEUrl } = options;
  const reads = new PublicReads(clock, options.timeoutMillis);
  const feeds: SourceFeed[] = [];
  if (venueBUrl !== undefined) {
    const key = accounts === undefined ? {} : { key: () => openFeedKey(reads, accounts) };
    feeds.push(new VenueFeed(new PublicVenueB({ reads, clock, url: venueBUrl, ...key }), clock));
  }
  if (venueEUrl !== undefined)
    feeds.push(new VenueFeed(new PublicVenueE({ reads, clock, url: venueEUrl }), clock));
  return feeds;
}
