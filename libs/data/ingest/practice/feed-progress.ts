import { NANOS_PER_MICRO } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { MarketDataEvent } from '../../rules/events.js';
import type { Quarantined, SourceBatch } from '../source.js';
import { Outlet } from './outlet.js';

const ROOM = 8;

/** How far a venue is read, and the one way out of what was read. */
export class FeedProgress {
  readonly outlet = new Outlet<SourceBatch | Quarantined>(ROOM);
  /** Whether the venue's list of markets read well when it was last read. */
  areMarketsGood = false;
  /** Whether it has ever read well to its end. */
  hasMarkets = false;
  private areTradesRead = false;
  private asOf: number | undefined;

  /** These venues keep all their trades, so that a read without a cursor reaches back to each listing. */
  private readonly reaches: Pick<SourceBatch, 'reachesFrom'>;

  constructor(
    private readonly clock: Clock,
    private cursor: string,
  ) {
    this.reaches = cursor === '' ? { reachesFrom: 0 } : {};
  }

  now(): number {
    return Number(this.clock.epochNanos() / NANOS_PER_MICRO);
  }

  async put(events: readonly MarketDataEvent[]): Promise<void> {
    const { cursor, asOf } = this;
    const isCaughtUp = this.areTradesRead && this.hasMarkets;
    await this.outlet.put({
      ...{ events, cursor, isCaughtUp, ...(isCaughtUp ? this.reaches : {}) },
      ...(asOf === undefined ? {} : { asOf }),
    });
  }

  /** All trades that the venue had at that time are given. */
  async tradesRead(began: number, cursor: string): Promise<void> {
    this.areTradesRead = true;
    this.cursor = cursor;
    if (this.areMarketsGood) this.asOf = began;
    await this.put([]);
  }

  marketsRead(isGood: boolean): void {
    this.areMarketsGood = isGood;
    this.hasMarkets ||= isGood;
  }
}
