import type { Instant } from '#libs/base/instant.js';
import type { SeedAccounts } from './cast.js';

const SAMPLE = 100;

/** The last line of the seed's output. */
export interface SampleTold {
  readonly oldest_opened_at: Instant | undefined;
  readonly newest_opened_at: Instant | undefined;
  readonly sample_ids: readonly string[];
  readonly rare_viewer: string;
}

/** Collects facts about the opened auctions for that line. */
export class Sample {
  private oldest: Instant | undefined;
  private newest: Instant | undefined;
  private readonly ids = new Map<number, string>();

  constructor(private readonly cast: SeedAccounts) {}

  note(number: number, auctionId: string, openedAt: Instant): void {
    if (this.oldest === undefined || openedAt < this.oldest) this.oldest = openedAt;
    if (this.newest === undefined || openedAt > this.newest) this.newest = openedAt;
    if (this.cast.originator(number) === this.cast.firstOriginator) this.ids.set(number, auctionId);
  }

  /** Auctions of the first originator, evenly spread. */
  get told(): SampleTold {
    const ids = [...this.ids].sort(([a], [b]) => a - b).map(([, id]) => id);
    const step = Math.max(1, ids.length / SAMPLE);
    const count = Math.min(SAMPLE, ids.length);
    return {
      oldest_opened_at: this.oldest,
      newest_opened_at: this.newest,
      sample_ids: Array.from({ length: count }, (_, index) => ids[Math.floor(index * step)] ?? ''),
      rare_viewer: this.cast.rareViewer,
    };
  }
}
