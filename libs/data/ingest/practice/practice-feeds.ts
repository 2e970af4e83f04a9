import type { Clock } from '#libs/platform/time/clock.js';
import type { Provider } from '../../rules/providers.js';
import type { LiveSource } from '../live-reads/port.js';
import type { SourceFeed } from '../source.js';
import { openFeedKey } from './b/feed-key.js';
import { LiveB } from './b/live-b.js';
import { PublicVenueB } from './b/public-b.js';
import { LiveE } from './e/live-e.js';
import { PublicVenueE } from './e/public-e.js';
import { VenueFeed } from './venue-feed.js';
import { PublicReads } from './public-reads.js';

export interface PracticeFeedOptions {
  readonly clock: Clock;
  /** With or without `/trade-api/v2`. */
  readonly venueBUrl?: string;
  /** The URL that opens accounts of venue_b. Without it, its socket stays closed and its lists are polled more often. */
  readonly venueBAccountsUrl?: string;
  readonly venueEUrl?: string;
  /** The time limit of one request. */
  readonly timeoutMillis?: number;
}

/** A feed for each practice venue that has a URL. */
export function practiceFeeds(options: PracticeFeedOptions): SourceFeed[] {
  const { clock, venueBUrl, venueBAccountsUrl: accounts, venueEUrl } = options;
  const reads = new PublicReads(clock, options.timeoutMillis);
  const feeds: SourceFeed[] = [];
  if (venueBUrl !== undefined) {
    const key = accounts === undefined ? {} : { key: () => openFeedKey(reads, accounts) };
    const protocol = new PublicVenueB({ reads, clock, url: baseOfB(venueBUrl), ...key });
    feeds.push(new VenueFeed(protocol, clock));
  }
  if (venueEUrl !== undefined)
    feeds.push(new VenueFeed(new PublicVenueE({ reads, clock, url: venueEUrl }), clock));
  return feeds;
}

/** Live reads for each practice venue that has a URL. */
export function practiceLiveSources(options: PracticeFeedOptions): ReadonlyMap<Provider, LiveSource> {
  const { clock, venueBUrl, venueEUrl } = options;
  const reads = new PublicReads(clock, options.timeoutMillis);
  const sources = new Map<Provider, LiveSource>();
  if (venueBUrl !== undefined) sources.set('venue_b', new LiveB({ reads, url: baseOfB(venueBUrl) }));
  if (venueEUrl !== undefined) sources.set('venue_e', new LiveE({ reads, url: venueEUrl }));
  return sources;
}

/** Accepts the URL of the venue, or of its trade API. */
function baseOfB(url: string): string {
  const { origin, pathname } = new URL(url);
  return pathname === '/' ? `${origin}/trade-api/v2` : url;
}
